/** Digits that a double holds for certain; those beyond are noise, as in 0.1 + 0.2. */
const SIGNIFICANT_DIGITS = 15;

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
  const rounded = Number.isInteger(value) ? value : Number(value.toPrecision(SIGNIFICANT_DIGITS));
  return rounded === 0 ? 0 : rounded;
}
