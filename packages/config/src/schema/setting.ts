import * as z from "zod/mini";
import { isAbsolute } from "node:path";
import { _default as withDefault } from "zod/mini";
import { atMost, type IsStricter, type TrustKind } from "./risk.ts";
import { Secret } from "../redact.ts";

/** An environment variable that applies to one `llm.provider` only. */
export interface ProviderVariable {
  name: string;
  provider: "openai" | "azure_openai" | "anthropic";
}

/** Traits of a setting beyond its type. */
export interface SettingTraits {
  /** Whether it is a path on the host, made absolute when loaded; a function where only some values are. */
  path?: boolean | ((value: string) => boolean) | undefined;
  /** The environment variables that set it. Of two, the first has precedence. */
  variables?: readonly (string | ProviderVariable)[] | undefined;
  /** The accepted values in words, unless the type makes them clear. */
  allowed?: string | undefined;
  /** `none`: an untrusted folder may set it, since no value can do harm. Default: a value from one needs trust. */
  risk?: "none" | undefined;
  /** Whether a value allows no more than the one in force without the folder. Default: only an equal one. */
  isStricter?: IsStricter | undefined;
  /** The part of a held-back value that makes things stricter, and therefore applies without trust. Default: none. */
  strictPart?: ((value: readonly unknown[], standard: readonly unknown[]) => unknown[]) | undefined;
  /** The kind of its trust item. Default: `path` for a setting that is always a path, else `setting`. */
  askedAs?: Exclude<TrustKind, "host-tool" | "key" | "package"> | undefined;
}

export { withDefault };

export const settingTraits = z.registry<SettingTraits>();

export function described<S extends z.ZodMiniType>(schema: S, description: string): S {
  const copy = schema.clone();
  z.globalRegistry.add(copy, { description });
  return copy;
}

/** The same, for a value that may be left out. */
export function optional<S extends z.ZodMiniType>(schema: S, description: string) {
  return described(z.optional(schema), description);
}

export function setting<S extends z.ZodMiniType>(schema: S, description: string, traits: SettingTraits = {}) {
  const copy = described(schema, description);
  settingTraits.add(copy, traits);
  return copy;
}

type Variables = SettingTraits["variables"];

/** A limit: an untrusted folder may set a lower one than the one in force. */
export function limit<S extends z.ZodMiniType>(schema: S, description: string, variables?: Variables): S {
  return setting(schema, description, { variables, isStricter: atMost });
}

/** A setting that an untrusted folder may set, since no value can do harm. */
export function harmless<S extends z.ZodMiniType>(schema: S, description: string, variables?: Variables): S {
  return setting(schema, description, { variables, risk: "none" });
}

/** A section. All its settings are optional or have a default, so it may be left out. */
export function section<S extends z.core.$ZodLooseShape>(description: string, shape: S) {
  return described(z.prefault(z.strictObject(shape), {} as never), description);
}

/** Whether a text has the form of a path: `./x`, `../x`, `~/x` or an absolute one. Otherwise it is a name. */
export function isPathByForm(value: string): boolean {
  return /^(?:\.{1,2}|~)(?=[\\/]|$)/u.test(value) || isAbsolute(value);
}

export const text = z.string().check(z.minLength(1));

export const httpUrl = z.string().check(
  z.regex(/^https?:\/\/[^\s/]+/, { error: "is not a URL that begins with http:// or https://", abort: true }),
  z.refine((url) => URL.canParse(url), "is not a valid URL"),
);
settingTraits.add(httpUrl, { allowed: "a URL that begins with http:// or https://" });

const ADDRESS_RANGES = [z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()];

/** An IP address, or a range of addresses in CIDR notation. */
export const addressRange = z
  .string()
  .check(
    z.refine(
      (value) => ADDRESS_RANGES.some((one) => one.safeParse(value).success),
      "is neither an IP address nor a range such as 10.0.0.0/8",
    ),
  );
settingTraits.add(addressRange, { allowed: "an IP address or a range such as 10.0.0.0/8" });

export function whole(least: number, most: number): z.ZodMiniInt {
  const schema = z.int().check(z.minimum(least), z.maximum(most));
  settingTraits.add(schema, { allowed: `a whole number from ${least} to ${most}` });
  return schema;
}

export function number(least: number, most: number): z.ZodMiniNumber<number> {
  const schema = z.number().check(z.minimum(least), z.maximum(most));
  settingTraits.add(schema, { allowed: `a number from ${least} to ${most}` });
  return schema;
}

export function count(most: number, standard: number) {
  return withDefault(whole(1, most), standard);
}

export function flag(standard: boolean): z.ZodMiniDefault<z.ZodMiniBoolean<boolean>> {
  return withDefault(z.boolean(), standard);
}

export function choice<const Words extends readonly string[]>(words: Words, standard: Words[number]) {
  return withDefault(z.enum(words), standard);
}

/** Refuses a value in a transformation. */
export function fail(payload: z.core.ParsePayload, message: string, ...path: PropertyKey[]): never {
  payload.issues.push({ code: "custom", message, path, input: payload.value });
  return z.NEVER;
}

function secret(type: string | string[], mayBeEmpty = false) {
  const given = z.custom<string | Secret>(
    (value) => (typeof value === "string" && (mayBeEmpty || value !== "")) || Secret.isInstance(value),
  );
  const schema = z.pipe(
    given,
    z.transform((value: string | Secret) => (typeof value === "string" ? new Secret(value) : value)),
  );
  z.globalRegistry.add(schema, { type });
  return schema;
}

/** A text that is loaded as a {@link Secret}. */
export const secretText = secret("string");

const SCALARS = ["string", "number", "boolean"];

/** A mapping of names to secrets, as in headers. */
export const secretRecord = z.record(z.string(), secret(SCALARS));

/** The same for environments: a variable that is set but empty differs from one that is not set. */
export const variableRecord = z.record(z.string(), secret(SCALARS, true));

/** A mapping of any values, which this package does not interpret. */
export const anyObject = z.record(z.string(), z.unknown());

/** Refuses a list in which a second entry has the same key, at this path inside the entry. */
export function unique<T>(
  keyOf: (entry: T) => string,
  message: (key: string) => string,
  ...path: string[]
): z.core.$ZodCheck<T[]> {
  return z.superRefine((list: T[], context) => {
    const seen = new Set<string>();
    for (const [index, entry] of list.entries()) {
      const key = keyOf(entry);
      if (seen.has(key)) context.addIssue({ code: "custom", path: [index, ...path], message: message(key) });
      seen.add(key);
    }
  });
}
