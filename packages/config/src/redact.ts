import { inspect } from "node:util";
import { Secret } from "./secret.ts";
import { toSnakeCase } from "./names.ts";

const MASK = "[secret]";
const TELLING = /(?:api[_-]?key|token|secret|passw(?:or)?d|credential|authorization|private[_-]?key)/i;

/** A copy as plain data, ready to show: secrets masked, also those in URLs, arguments and metadata. */
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
    Object.entries(value).map(([key, item]) => [key, isTelling(key, item) ? MASK : redact(item)]),
  );
}

/** A key that names a secret and has a text. Settings such as `max_tokens` have none. */
function isTelling(key: string, item: unknown): boolean {
  return typeof item === "string" && TELLING.test(toSnakeCase(key));
}

/** `--api-key`, whose value is the next argument. */
function namesSecret(argument: unknown): boolean {
  return (
    typeof argument === "string" &&
    argument.startsWith("-") &&
    !argument.includes("=") &&
    TELLING.test(argument)
  );
}

/** Hides `user:password@` and the query of URLs, and the value of `--token=…`. */
function redactText(text: string): string {
  if (text.startsWith("-") && TELLING.test(text)) return text.replace(/=.*$/s, `=${MASK}`);
  return text
    .replaceAll(/([a-z][a-z0-9+.-]*:\/\/)[^/?#\s@]*@/gi, `$1${MASK}@`)
    .replaceAll(/([?&][^=&#\s]*=)[^&#\s]*/g, (match, name: string, offset: number) =>
      text.slice(0, offset).includes("://") ? `${name}${MASK}` : match,
    );
}

/** Makes a configuration show itself only redacted when it is printed, inspected or turned into JSON. */
export function shyConfig<T extends object>(config: T): T {
  return Object.defineProperties(config, {
    toJSON: { value: () => redactConfig({ ...config }) },
    [inspect.custom]: { value: () => redactConfig({ ...config }) },
  });
}
