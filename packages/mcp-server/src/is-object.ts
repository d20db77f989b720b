/** Whether a value is an object with names and values: neither `null` nor a list. */
export function isObject<Value = unknown>(value: unknown): value is Record<string, Value> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
