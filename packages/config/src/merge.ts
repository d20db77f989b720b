import { getPath, type Layer, type Origin, placeKey, setPath } from "./layer.ts";
import { SETTINGS } from "./settings.ts";

/** Puts layers on each other, weakest first. A setting is taken whole: lists and mappings are replaced, not joined. */
export function mergeLayers(layers: readonly Layer[]): {
  values: Record<string, unknown>;
  origins: Record<string, Origin>;
} {
  const values: Record<string, unknown> = {};
  const origins: Record<string, Origin> = {};
  for (const { path, keys } of SETTINGS) {
    const winner = layers.findLast((layer) => getPath(layer.values, keys) !== undefined);
    if (winner !== undefined) setPath(values, keys, getPath(winner.values, keys));
    origins[path] = winner?.places.get(placeKey(keys))?.origin ?? { from: "default", label: "default" };
  }
  return { values, origins };
}
