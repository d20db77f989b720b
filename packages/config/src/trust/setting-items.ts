import { getPath, type Origin } from "../layer.ts";
import { redactConfig } from "../redact.ts";
import type { RiskCondition } from "../risk.ts";
import type { Config } from "../schema.ts";
import { Secret } from "../secret.ts";
import { type Setting, SETTINGS } from "../settings.ts";
import { usesModel } from "./key-items.ts";
import { type TrustItem, trustItem } from "./trust-item.ts";

const CONDITIONS: Readonly<Record<RiskCondition, (config: Config) => boolean>> = {
  model: usesModel,
  network: ({ execution }) => execution.allowNetworkAccess,
  kubernetes: ({ execution }) => execution.sandboxType === "kubernetes",
};

/** The part of a {@link Setting} that decides whether it needs a yes. */
export type RiskySetting = Pick<Setting, "path" | "keys" | "risk">;

/** The settings of a configuration, and what they would be without the files of the folder. */
export interface SettingSources {
  /** The configuration without the files of the folder: what allows no more than it needs no yes. */
  own: Config;
  origins: Readonly<Record<string, Origin>>;
  /** The values that each file of the folder sets, also where the user has set it to something else. */
  given: Readonly<Partial<Record<Origin["from"], unknown>>>;
}

/**
 * The settings in files of the folder that could do harm. They act together, so a yes is to all of a file: each has the
 * digest of all.
 */
export function settingItems(
  config: Config,
  { own, origins, given }: SettingSources,
  settings: readonly RiskySetting[] = SETTINGS,
): TrustItem[] {
  const able = settings.filter(({ risk }) => risk !== "none" && risk.askedAs === undefined);
  return able.flatMap(({ path, keys, risk }) => {
    const origin = origins[path];
    if (risk === "none" || origin?.ofFolder !== true) return [];
    const { when, isStricter, allows } = risk;
    const [value, standard] = [getPath(config, keys), getPath(own, keys)];
    const isSame = written(value) === written(standard);
    const isIdle = when !== undefined && !CONDITIONS[when](config) && !CONDITIONS[when](own);
    if (isSame || isIdle || isStricter?.(value, standard) === true) return [];
    const together = able.flatMap((one) => {
      const set = getPath(given[origin.from], one.keys);
      return set === undefined ? [] : [[one.path, written(set)]];
    });
    const text = `${shown(path, value)}: ${allows}`;
    return [trustItem({ kind: "setting", name: path, text }, [written(value), together])];
  });
}

/** A value as text, with its secrets. */
function written(value: unknown): string {
  const text = JSON.stringify({ value }, function reveal(this: Record<string, unknown>, key, plain: unknown) {
    const given = this[key];
    return Secret.isInstance(given) ? given.reveal() : plain;
  });
  return text;
}

/** A value as text, without its secrets. */
function shown(path: string, value: unknown): string {
  const name = path.slice(path.lastIndexOf(".") + 1);
  const [safe] = Object.values(redactConfig({ [name]: value }));
  return typeof safe === "string" ? safe : JSON.stringify(safe);
}
