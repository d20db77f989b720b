/** Digits that a double holds for certain; those beyond are noise, as in 0.1 + 0.2. */
const SIGNIFICANT_DIGITS = 15;
/** Where rounding saves fewer characters, the digits are those of the number, as in 10 / 3. */
const MIN_SAVED_CHARACTERS = 3;

/** Reads two finite numbers, `a` and `b`, or says which of them is wrong. */
export function requireNumbers(tool: string, input: unknown): { a: number; b: number } {
  const given: { a?: unknown; b?: unknown } = typeof input === "object" && input !== null ? input : {};
  return { a: requireNumber(tool, "a", given.a), b: requireNumber(tool, "b", given.b) };
}

function requireNumber(tool: string, name: "a" | "b", value: unknown): number {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  const seen =
    value === undefined
      ? "nothing"
      : typeof value === "number"
        ? `${value}`
        : (JSON.stringify(value) ?? typeof value);
  throw new TypeError(
    `${tool} needs a finite number as "${name}", got ${seen}. Call ${tool}({ a: 1, b: 2 }).`,
  );
}

/** Removes floating-point noise, and refuses a result that is no number. */
export function toResult(value: number, expression: string): number {
  if (Number.isNaN(value)) throw new RangeError(`${expression} is not a real number.`);
  if (!Number.isFinite(value)) throw new RangeError(`${expression} is too large for a number.`);
  const rounded = Number(value.toPrecision(SIGNIFICANT_DIGITS));
  const isNoisy =
    !Number.isInteger(value) && String(value).length - String(rounded).length >= MIN_SAVED_CHARACTERS;
  if (isNoisy) return rounded;
  return value === 0 ? 0 : value;
}
