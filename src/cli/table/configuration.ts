// The commands for the configuration and its models: config path, show, trust; models list, set, unset.
import { type CommandGroup, defineCommand, type OptionSpecs } from "../command.ts"
import { jsonOption } from "./shared-options.ts"

export const configOptions = {
  config: { type: "text", value: "<file>", files: true, help: "the configuration file. Default: karst.config.ts" },
  ...jsonOption,
} as const satisfies OptionSpecs

export const configCommands: CommandGroup = {
  name: "config",
  summary: "show the configuration and where each value comes from, and trust it",
  page: "configuration.md",
  commands: [
    defineCommand({
      name: "path",
      summary: "print the configuration files of the project and of the user",
      options: jsonOption,
      examples: [{ line: "karst config path", does: "also those that do not exist yet" }],
      load: async () => (await import("../commands/config-command.ts")).configPathCommand,
    }),
    defineCommand({
      name: "show",
      summary: "print every value with its origin (option, environment, project, user, default), then every mistake",
      options: configOptions,
      examples: [{ line: "karst config show", does: "secrets are not printed" }],
      load: async () => (await import("../commands/config-command.ts")).showConfigCommand,
    }),
    defineCommand({
      name: "trust",
      summary: "trust a configuration file, and the files that it imports, as they are now",
      takes: { usage: "[<file>]", least: 0, most: 1, files: true },
      options: {},
      examples: [{ line: "karst config trust", does: "those of the project and the user, after you have read them" }],
      load: async () => (await import("../commands/config-command.ts")).trustConfigCommand,
    }),
  ],
}

export const listModelsOptions = {
  all: { type: "flag", help: "also the models of the built-in price list" },
  ...configOptions,
} as const satisfies OptionSpecs

export const setModelOptions = {
  "base-url": { type: "text", value: "<url>", help: "the address of the endpoint. Default: the provider's" },
  "api-key": {
    type: "text",
    value: "<text>",
    help: "where the key is: '${NAME}' for an environment variable. Default: the provider's variable",
  },
  input: { type: "number", value: "<usd>", help: "the price of a million input tokens" },
  output: { type: "number", value: "<usd>", help: "the price of a million output tokens" },
  "cache-read": { type: "number", value: "<usd>", help: "the price of a million input tokens from the cache" },
  "context-window": { type: "integer", value: "<tokens>", help: "how many tokens the model can read" },
} as const satisfies OptionSpecs

export const modelsCommands: CommandGroup = {
  name: "models",
  summary: "list the models of the configuration and of coding CLIs with their prices, and name models",
  page: "configuration.md",
  commands: [
    defineCommand({
      name: "list",
      summary: "list the default model, named models and tiers, with prices and origins",
      options: listModelsOptions,
      examples: [
        { line: "karst models list", does: "prices are in US dollars per million tokens" },
        { line: "karst models list --all", does: "with every model whose price is known" },
      ],
      load: async () => (await import("../commands/models-command.ts")).listModelsCommand,
    }),
    defineCommand({
      name: "set",
      summary: "name a model in the user's configuration, or set the default model or the tier of a coding CLI",
      takes: { usage: "<name> <id> | <cli> <tier> <model>", least: 2, most: 3 },
      options: setModelOptions,
      examples: [
        { line: "karst models set default openai/gpt-5.2", does: "for runs that name no model" },
        {
          line: "karst models set local openai-compatible:http://gpu:8000/v1#qwen3 --input 0 --output 0",
          does: 'for karst run "…" --model local',
        },
        { line: "karst models set claude fast haiku", does: "for --model fast with Claude Code" },
      ],
      notes: [
        "The name default is the default model. A price needs --input and --output unless the price list has the " +
          "model. The tiers of coding CLIs are strongest and fast; a variable of the CLI, such as ANTHROPIC_MODEL, has " +
          "precedence.",
      ],
      load: async () => (await import("../commands/models-command.ts")).setModelCommand,
    }),
    defineCommand({
      name: "unset",
      summary: "remove a model or a tier from the user's configuration",
      takes: { usage: "<name> | <cli> <tier>", least: 1, most: 2 },
      options: {},
      examples: [
        { line: "karst models unset local", does: "default removes the default model" },
        { line: "karst models unset claude fast", does: "the CLI's usual model again" },
      ],
      load: async () => (await import("../commands/models-command.ts")).unsetModelCommand,
    }),
  ],
}
