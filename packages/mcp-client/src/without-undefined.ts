type OptionalKeys<T> = { [Key in keyof T]: undefined extends T[Key] ? Key : never }[keyof T];
type WithoutUndefined<T> = Omit<T, OptionalKeys<T>> & {
  [Key in OptionalKeys<T>]?: Exclude<T[Key], undefined>;
};

/** Copies an object without its undefined members, for options of the SDK that must not be `undefined`. */
export function withoutUndefined<T extends object>(value: T): WithoutUndefined<T> {
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(entries) as WithoutUndefined<T>;
}
