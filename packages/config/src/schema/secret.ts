const BRAND = Symbol.for("@cem/config.secret");
const MASK = "[secret]";
/** `util.inspect.custom`, without loading `node:util`. */
export const INSPECT = Symbol.for("nodejs.util.inspect.custom");

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
