import { collectPatterns } from "./linear/collect.ts";
import { findNotLinear, writeChecked } from "./linear/verdicts.ts";

// Checks every regular expression of the sources anew, and notes those that are linear.
const patterns = collectPatterns();
const found = await findNotLinear(patterns);
const places = new Set(found.map(({ place }) => place));
writeChecked(patterns.filter(({ place }) => !places.has(place)));
for (const { place, source, flags, why } of found) console.log(`${place} /${source}/${flags}\n  ${why}`);
console.log(`${patterns.length} patterns, ${found.length} not linear`);
process.exit(found.length === 0 ? 0 : 1);
