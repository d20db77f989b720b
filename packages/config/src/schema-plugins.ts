import * as z from "zod/mini";
import { anyObject, described, flag, isPathByForm, setting, text, unique } from "./setting.ts";

/** A plugin to load. */
export interface PluginSetting {
  /** A path, absolute in a loaded configuration, or the name of a package. */
  plugin: string;
  /** Checked by the plugin's own schema. */
  options?: Record<string, unknown> | undefined;
  /** Whether nothing may run without it. */
  required: boolean;
}

const entry = z.strictObject({
  plugin: setting(text, "Path of a module, or name of an installed package.", { path: isPathByForm }),
  options: described(z.optional(anyObject), "Options of the plugin, which its own schema checks."),
  required: described(
    flag(false),
    "true: nothing runs without it. false: where it fails, the rest goes on, with a warning.",
  ),
});

const plugin = z.pipe(
  z.union([text, entry]),
  z.transform((value): PluginSetting =>
    typeof value === "string" ? { plugin: value, required: false } : value,
  ),
);

export const plugins = z.array(plugin).check(
  unique(
    (setting: PluginSetting) => setting.plugin,
    (name) => `is named twice: ${JSON.stringify(name)}`,
  ),
);
