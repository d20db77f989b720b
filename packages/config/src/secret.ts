import { inspect } from "node:util";

const BRAND = Symbol.for("@cem/config.secret");
const MASK = "[secret]";

/** A text that shows itself only when asked: printing, inspecting and `JSON.stringify` give `[secret]`. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Also recognises a secret made by another copy of this package. */
  static isInstance(value: unknown): value is Secret {
    return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[BRAND] === true;
  }

  /** The text itself. Never log it. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  [inspect.custom](): string {
    return MASK;
  }
}
