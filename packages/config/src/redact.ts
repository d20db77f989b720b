const BRAND = Symbol.for("@cem/config.secret");
const MASK = "[secret]";
/** `util.inspect.custom`, without loading `node:util`. */
const INSPECT = Symbol.for("nodejs.util.inspect.custom");

/** A secret text. Printing, inspecting and `JSON.stringify` give `[secret]`; only `reveal()` gives the text. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Whether a value is a secret, also one from another copy of this package. */
  static isInstance(value: unknown): value is Secret {
    return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[BRAND] === true;
  }

  /** Returns the text. It must not be logged. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  [INSPECT](): string {
    return MASK;
  }
}

const SECRET_NAME = /(?:api[_-]?key|token|secret|passw(?:or)?d|credential|authorization|private[_-]?key)/i;

/** Copies a configuration as plain data with all secrets masked, also in URLs, arguments and metadata. */
export function redactConfig<T>(config: T): T {
  return redact(config) as T;
}

function redact(value: unknown): unknown {
  if (Secret.isInstance(value)) return MASK;
  if (typeof value === "string") return redactText(value);
  if (Array.isArray(value))
    return value.map((item, index) =>
      typeof item === "string" && namesSecret(value[index - 1]) ? MASK : redact(item),
    );
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    // Values that aren't text, such as that of `max_tokens`, are not secrets.
    Object.entries(value).map(([key, item]) => [
      key,
      typeof item === "string" && SECRET_NAME.test(key) ? MASK : redact(item),
    ]),
  );
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

/** Makes a configuration appear redacted in `console.log`, `util.inspect` and `JSON.stringify`. */
export function redactWhenPrinted<T extends object>(config: T): T {
  const value = (): T => redactConfig({ ...config });
  return Object.defineProperties(config, { toJSON: { value }, [INSPECT]: { value } });
}
