import { collectPatterns } from "./linear/collect.ts";
import { findNotLinear, unchecked, writeChecked } from "./linear/verdicts.ts";

// Checks every regular expression of the sources, with --new only those that were not checked yet, and notes which are
// linear.
const patterns = collectPatterns();
const checked = process.argv.includes("--new") ? unchecked(patterns) : patterns;
const found = await findNotLinear(checked);
const places = new Set(found.map(({ place }) => place));
writeChecked(patterns.filter(({ place }) => !places.has(place)));
for (const { place, source, flags, why } of found) console.log(`${place} /${source}/${flags}\n  ${why}`);
console.log(`${checked.length} patterns, ${found.length} not linear`);
process.exit(found.length === 0 ? 0 : 1);
