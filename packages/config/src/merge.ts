import { getPath, type Layer, type Origin, originKey, setPath } from "./layer.ts";
import { SETTINGS } from "./settings.ts";

/** Merges layers, weakest first. Each setting is taken from one layer: lists and mappings are replaced, not merged. */
export function mergeLayers(layers: readonly Layer[]): {
  values: Record<string, unknown>;
  origins: Record<string, Origin>;
} {
  const values: Record<string, unknown> = {};
  const origins: Record<string, Origin> = {};
  for (const { path, keys } of SETTINGS) {
    const winner = layers.findLast((layer) => getPath(layer.values, keys) !== undefined);
    if (winner !== undefined) setPath(values, keys, getPath(winner.values, keys));
    origins[path] = winner?.origins.get(originKey(keys))?.origin ?? { from: "default", label: "default" };
  }
  return { values, origins };
}
