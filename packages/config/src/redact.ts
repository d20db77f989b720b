import { INSPECT, Secret } from "./schema/secret.ts";
import { toSnakeCase } from "./schema/shape.ts";

const MASK = "[secret]";
const SECRET_NAME = /(?:api[_-]?key|token|secret|passw(?:or)?d|credential|authorization|private[_-]?key)/i;

/** Copies a configuration as plain data with all secrets masked, also in URLs, arguments and metadata. */
export function redactConfig<T>(config: T): T {
  return redact(config) as T;
}

function redact(value: unknown): unknown {
  if (Secret.isInstance(value)) return MASK;
  if (typeof value === "string") return redactText(value);
  if (Array.isArray(value)) {
    return value.map((item, index) =>
      typeof item === "string" && namesSecret(value[index - 1]) ? MASK : redact(item),
    );
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, isNamedSecret(key, item) ? MASK : redact(item)]),
  );
}

/** Whether a key names a secret and its value is text. The value of settings such as `max_tokens` is not. */
function isNamedSecret(key: string, item: unknown): boolean {
  return typeof item === "string" && SECRET_NAME.test(toSnakeCase(key));
}

/** Whether an argument is a flag such as `--api-key`, whose value is the next argument. */
function namesSecret(argument: unknown): boolean {
  return (
    typeof argument === "string" &&
    argument.startsWith("-") &&
    !argument.includes("=") &&
    SECRET_NAME.test(argument)
  );
}

/** Hides `user:password@` and the query of URLs, and the value of `--token=…`. */
function redactText(text: string): string {
  if (text.startsWith("-") && SECRET_NAME.test(text)) return text.replace(/=.*$/s, `=${MASK}`);
  return text
    .replaceAll(/(?<![a-z0-9+.-])([a-z0-9+.-]+:\/\/)[^/?#\s@]*@/gi, `$1${MASK}@`)
    .replaceAll(/([?&][^=?&#\s]*=)[^&#\s]*/g, (match, name: string, offset: number) =>
      text.slice(0, offset).includes("://") ? `${name}${MASK}` : match,
    );
}

/** Makes a configuration print redacted in `console.log`, `util.inspect` and `JSON.stringify`. */
export function redactWhenPrinted<T extends object>(config: T): T {
  return Object.defineProperties(config, {
    toJSON: { value: () => redactConfig({ ...config }) },
    [INSPECT]: { value: () => redactConfig({ ...config }) },
  });
}
