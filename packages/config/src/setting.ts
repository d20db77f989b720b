import * as z from "zod";
import { Secret } from "./secret.ts";

/** What a setting has beyond its type. */
export interface SettingTraits {
  /** Whether it is a path on the host, made absolute when the configuration is loaded. */
  path?: boolean | undefined;
  secret?: boolean | undefined;
  /** Why the setting has no effect yet. */
  pending?: string | undefined;
  /** What it takes, in words, where the type does not tell. */
  allowed?: string | undefined;
}

export const settingTraits = z.registry<SettingTraits>();

/** Adds a description and traits to a schema. */
export function setting<S extends z.ZodType>(schema: S, description: string, traits: SettingTraits = {}): S {
  const described = schema.describe(description);
  settingTraits.add(described, traits);
  return described;
}

export const text = z.string().min(1);

function secret(type: string | string[]) {
  const schema = z
    .custom<string | Secret>(
      (value) => (typeof value === "string" && value !== "") || Secret.isInstance(value),
    )
    .transform((value) => (typeof value === "string" ? new Secret(value) : value))
    .meta({ type });
  settingTraits.add(schema, { secret: true });
  return schema;
}

/** A text that is loaded as a {@link Secret}. */
export const secretText = secret("string");

/** A mapping of names to secrets, as in environments and headers. */
export const secretRecord = z.record(z.string(), secret(["string", "number", "boolean"]));

/** A mapping of any values, which this package does not interpret. */
export const anyObject = z.record(z.string(), z.unknown());
