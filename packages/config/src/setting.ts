import { z } from "zod";
import { Secret } from "./secret.ts";

/** What the schema knows of a setting beyond its type. */
export interface SettingTraits {
  /** A path on the host, made absolute when the configuration is loaded. */
  path?: boolean | undefined;
  secret?: boolean | undefined;
  /** Why it has no effect yet. */
  pending?: string | undefined;
  /** What it takes, in words, where the type does not say it. */
  allowed?: string | undefined;
}

export const settingTraits = z.registry<SettingTraits>();

/** Gives a schema its description and traits. */
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

/** A text that becomes a {@link Secret}. */
export const secretText = secret("string");

/** A mapping from names to texts, as in environments and headers, whose values are secrets. */
export const secretRecord = z.record(z.string(), secret(["string", "number", "boolean"]));

/** Data that only its reader understands. */
export const anything = z.record(z.string(), z.unknown());
