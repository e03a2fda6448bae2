// The syntax tree of a cell: acorn's nodes plus what `@sveltejs/acorn-typescript` adds. Types are opaque: one interface
// covers every node that only describes a type. Importing this file extends acorn's types.
import type { ExportNamedDeclaration, Expression, Identifier, Literal, Node, Pattern, Statement } from "acorn"

export type { AnyNode } from "acorn"

/** A node that only describes a type: annotations, type parameters and arguments, interfaces, aliases, overloads. */
export interface TypeNode extends Node {
  type:
    | "TSTypeAnnotation"
    | "TSTypeParameterDeclaration"
    | "TSTypeParameterInstantiation"
    | "TSExpressionWithTypeArguments"
    | "TSInterfaceDeclaration"
    | "TSTypeAliasDeclaration"
    | "TSDeclareFunction"
    | "TSDeclareMethod"
    | "TSIndexSignature"
    | "TSNamespaceExportDeclaration"
  /** The declared name, of interfaces, aliases, functions without a body and `export as namespace`. */
  id?: Identifier | null
}

/** An expression with a type: `x as T`, `x satisfies T`, `x!`, `<T>x`, `x<T>`. */
export interface TypedExpression extends Node {
  type:
    | "TSAsExpression"
    | "TSSatisfiesExpression"
    | "TSNonNullExpression"
    | "TSTypeAssertion"
    | "TSInstantiationExpression"
  expression: Expression
  /** Of `as`, `satisfies` and `<T>x`. */
  typeAnnotation?: TypeNode
  /** Of `x<T>`. */
  typeArguments?: TypeNode
}

export interface EnumDeclaration extends Node {
  type: "TSEnumDeclaration"
  id: Identifier
  members: EnumMember[]
  declare?: boolean
}

export interface EnumMember extends Node {
  type: "TSEnumMember"
  id: Identifier | Literal
  initializer?: Expression
}

export interface NamespaceDeclaration extends Node {
  type: "TSModuleDeclaration"
  id: Identifier | Literal
  body?: NamespaceBlock | NamespaceDeclaration
  declare?: boolean
  global?: boolean
}

export interface NamespaceBlock extends Node {
  type: "TSModuleBlock"
  body: (Statement | ExportNamedDeclaration)[]
}

export interface ImportEquals extends Node {
  type: "TSImportEqualsDeclaration"
  id: Identifier
  importKind: "value" | "type"
  isExport: boolean
  moduleReference: ExternalModule | QualifiedName | Identifier
}

export interface ExternalModule extends Node {
  type: "TSExternalModuleReference"
  expression: Literal
}

export interface QualifiedName extends Node {
  type: "TSQualifiedName"
  left: QualifiedName | Identifier
  right: Identifier
}

export interface ExportAssignment extends Node {
  type: "TSExportAssignment"
  expression: Expression
}

export interface ParameterProperty extends Node {
  type: "TSParameterProperty"
  parameter: Pattern
}

export interface Decorator extends Node {
  type: "Decorator"
  expression: Expression
}

interface TypeAnnotated {
  typeAnnotation?: TypeNode
  optional?: boolean
  decorators?: Decorator[]
}

interface MemberModifiers {
  accessibility?: "public" | "private" | "protected"
  abstract?: boolean
  declare?: boolean
  definite?: boolean
  override?: boolean
  readonly?: boolean
  optional?: boolean
  accessor?: boolean
  decorators?: Decorator[]
}

declare module "acorn" {
  interface NodeTypes {
    typescript:
      | TypeNode
      | TypedExpression
      | EnumDeclaration
      | EnumMember
      | NamespaceDeclaration
      | NamespaceBlock
      | ImportEquals
      | ExternalModule
      | QualifiedName
      | ExportAssignment
      | ParameterProperty
      | Decorator
  }
  interface Identifier extends TypeAnnotated {}
  interface ObjectPattern extends TypeAnnotated {}
  interface ArrayPattern extends TypeAnnotated {}
  interface AssignmentPattern extends TypeAnnotated {}
  interface RestElement extends TypeAnnotated {}
  interface Function {
    returnType?: TypeNode
    typeParameters?: TypeNode
  }
  interface Class {
    abstract?: boolean
    declare?: boolean
    decorators?: Decorator[]
    implements?: TypeNode[]
    typeParameters?: TypeNode
    superTypeParameters?: TypeNode
  }
  interface MethodDefinition extends MemberModifiers {
    typeParameters?: TypeNode
  }
  interface PropertyDefinition extends MemberModifiers {
    typeAnnotation?: TypeNode
  }
  interface CallExpression {
    typeArguments?: TypeNode
  }
  interface NewExpression {
    typeArguments?: TypeNode
  }
  interface TaggedTemplateExpression {
    typeArguments?: TypeNode
  }
  interface VariableDeclaration {
    declare?: boolean
  }
  interface VariableDeclarator {
    definite?: boolean
  }
  interface ImportDeclaration {
    importKind?: "value" | "type"
  }
  interface ImportSpecifier {
    importKind?: "value" | "type"
  }
  interface ExportNamedDeclaration {
    exportKind?: "value" | "type"
  }
  interface ExportSpecifier {
    exportKind?: "value" | "type"
  }
  interface ExportAllDeclaration {
    exportKind?: "value" | "type"
  }
}
