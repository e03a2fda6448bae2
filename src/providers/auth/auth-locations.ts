// Where each coding CLI stores its credentials, and how they are read.
import { join } from "node:path"
import { attempt } from "../../core/attempt.ts"
import type { Json } from "../../core/json.ts"
import { numberAt, objectAt, textAt } from "../read-json.ts"

export type Variables = Readonly<Record<string, string | undefined>>

export interface AuthLocations {
  files(env: Variables, home: string): readonly AuthLocation[]
  /** Variables that contain credentials. */
  credentials: readonly string[]
  /** Variables that configure the service, and those that only apply if the variable of their key is set. */
  settings: readonly string[]
  conditionalSettings?: Readonly<Record<string, readonly string[]>> | undefined
  /** What to do if there are no credentials. */
  cure: string
}

export interface AuthLocation {
  path: string
  /** The path of the file in a container, relative to the home there. */
  target: string
  /** Reads the text of the file; undefined if it contains nothing about credentials. Throws if it cannot be parsed. */
  read(text: string): AuthFinding | undefined
}

/** What a file contains, without any secret. */
export interface AuthFinding {
  kind: "credential" | "settings"
  expiresAt?: number | undefined
  /** True if the CLI writes a new credential to the file when this one expires. */
  renewedByCli?: boolean | undefined
  /** The variables from which the CLI takes credentials, according to the file. */
  variables?: readonly string[] | undefined
}

export const authLocations: Readonly<Record<string, AuthLocations>> = {
  claude: {
    files(env, home) {
      const folder = env.CLAUDE_CONFIG_DIR ?? join(home, ".claude")
      return [
        { path: join(folder, ".credentials.json"), target: ".claude/.credentials.json", read: claudeLogin },
        { path: join(folder, "settings.json"), target: ".claude/settings.json", read: claudeSettings },
      ]
    },
    credentials: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
    settings: ["ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS"],
    conditionalSettings: {
      CLAUDE_CODE_USE_BEDROCK: [
        ...["AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"],
        ...["AWS_BEARER_TOKEN_BEDROCK", "ANTHROPIC_BEDROCK_BASE_URL"],
      ],
      CLAUDE_CODE_USE_VERTEX: ["CLOUD_ML_REGION", "ANTHROPIC_VERTEX_PROJECT_ID", "ANTHROPIC_VERTEX_BASE_URL"],
    },
    cure: "run `claude setup-token` and set CLAUDE_CODE_OAUTH_TOKEN to what it gives, or set ANTHROPIC_API_KEY",
  },
  codex: {
    files(env, home) {
      const folder = env.CODEX_HOME ?? join(home, ".codex")
      return [
        { path: join(folder, "auth.json"), target: ".codex/auth.json", read: codexLogin },
        {
          path: join(folder, "config.toml"),
          target: ".codex/config.toml",
          read: (text) => ({
            kind: "settings",
            variables: variableNamesIn(text, /^[ \t]*env_key[ \t]*=[ \t]*["'](\w+)["']/gm),
          }),
        },
      ]
    },
    credentials: ["OPENAI_API_KEY", "CODEX_API_KEY"],
    settings: ["OPENAI_BASE_URL"],
    cure: "run `codex login`, or set OPENAI_API_KEY",
  },
  opencode: {
    files(env, home) {
      const data = env.XDG_DATA_HOME ?? join(home, ".local", "share")
      const config = env.XDG_CONFIG_HOME ?? join(home, ".config")
      const names = ["opencode.json", "opencode.jsonc", "config.json"]
      const defaultFiles = names.map((name) => ({
        path: join(config, "opencode", name),
        target: `.config/opencode/${name}`,
      }))
      const own = env.OPENCODE_CONFIG
        ? [{ path: env.OPENCODE_CONFIG, target: ".config/opencode/opencode.json" }]
        : defaultFiles
      return [
        { path: join(data, "opencode", "auth.json"), target: ".local/share/opencode/auth.json", read: opencodeLogins },
        ...own.map((file) => ({ ...file, read: opencodeSettings })),
      ]
    },
    credentials: [
      ...["OPENCODE_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"],
      ...["GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"],
    ],
    settings: [],
    cure: "run `opencode auth login`, or set the key of a model's maker, such as ANTHROPIC_API_KEY",
  },
  gemini: {
    files(env, home) {
      const folder = join(env.GEMINI_CLI_HOME ?? home, ".gemini")
      return [
        { path: join(folder, "oauth_creds.json"), target: ".gemini/oauth_creds.json", read: geminiLogin },
        {
          path: join(folder, ".env"),
          target: ".gemini/.env",
          read: (text) =>
            /^[ \t]*(GEMINI|GOOGLE)_API_KEY[ \t]*=[ \t]*\S/m.test(text) ? { kind: "credential" } : undefined,
        },
        { path: join(folder, "settings.json"), target: ".gemini/settings.json", read: () => ({ kind: "settings" }) },
      ]
    },
    credentials: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    settings: ["GOOGLE_GEMINI_BASE_URL", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"],
    cure: "start `gemini` once and sign in, or set GEMINI_API_KEY",
  },
}

function claudeLogin(text: string): AuthFinding | undefined {
  const login = objectAt(parseJson(text), "claudeAiOauth")
  if (!isSet(login.accessToken)) return undefined
  return { kind: "credential", expiresAt: numberAt(login, "expiresAt"), renewedByCli: isSet(login.refreshToken) }
}

function claudeSettings(text: string): AuthFinding | undefined {
  const names = Object.keys(objectAt(parseJson(text), "env"))
  if (names.some((name) => /^ANTHROPIC_(API_KEY|AUTH_TOKEN)$/.test(name))) return { kind: "credential" }
  return names.some((name) => /^(ANTHROPIC|CLAUDE_CODE_USE)_/.test(name)) ? { kind: "settings" } : undefined
}

function codexLogin(text: string): AuthFinding | undefined {
  const json = parseJson(text)
  const tokens = objectAt(json, "tokens")
  const token = textAt(tokens, "access_token")
  if (token) return { kind: "credential", expiresAt: jwtExpiry(token), renewedByCli: isSet(tokens.refresh_token) }
  return isSet(textAt(json, "OPENAI_API_KEY")) ? { kind: "credential" } : undefined
}

// One login is enough. The one that expires last counts.
function opencodeLogins(text: string): AuthFinding | undefined {
  const logins = Object.values(objectAt(parseJson(text)))
  const usable = logins.filter((login) => ["key", "access", "token"].some((name) => isSet(textAt(login, name))))
  if (usable.length === 0) return undefined
  const ends = usable.map((login) => numberAt(login, "expires"))
  return {
    kind: "credential",
    renewedByCli: usable.some((login) => isSet(textAt(login, "refresh"))),
    expiresAt: ends.every((end) => end !== undefined && end > 0) ? Math.max(...ends.map(Number)) : undefined,
  }
}

function opencodeSettings(text: string): AuthFinding {
  const variables = variableNamesIn(text, /\{env:(\w+)\}/g)
  const isOwn = /"apiKey"\s*:\s*"(?!\{(?:env|file):)[^"]/.test(text)
  return { kind: isOwn ? "credential" : "settings", variables }
}

function geminiLogin(text: string): AuthFinding | undefined {
  const json: Json = parseJson(text)
  if (!isSet(textAt(json, "access_token")) && !isSet(textAt(json, "refresh_token"))) return undefined
  return {
    kind: "credential",
    expiresAt: numberAt(json, "expiry_date"),
    renewedByCli: isSet(textAt(json, "refresh_token")),
  }
}

function parseJson(text: string): Json {
  return JSON.parse(text) as Json
}

/** Returns true if there is a secret, without returning it. */
function isSet(value: Json | undefined): boolean {
  return typeof value === "string" && value !== ""
}

/** The variable names in a settings file, at the matches of a pattern. */
function variableNamesIn(text: string, pattern: RegExp): string[] {
  return [...new Set([...text.matchAll(pattern)].flatMap(([, name]) => name ?? []))]
}

/** When a JSON Web Token expires, in milliseconds since the epoch; undefined if it does not say. */
function jwtExpiry(token: string): number | undefined {
  const [, payload = ""] = token.split(".")
  const seconds = attempt(() => numberAt(parseJson(Buffer.from(payload, "base64url").toString()), "exp"))
  return seconds === undefined ? undefined : seconds * 1000
}
