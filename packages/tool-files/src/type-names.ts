import { toIdentifier } from "./identifiers.ts";

const MAX_TYPE_NAME_CHARACTERS = 40;

/** Global types that a declaration must not shadow. */
const GLOBAL_TYPES = new Set(
  "Array Boolean Function Number Object Promise Record RegExp String Symbol BigInt Date Error Map Set".split(
    " ",
  ),
);

/** Assigns unique names to the types of a module. */
export interface TypeNames {
  /** The next free name for some words: `GetWeatherInput` for `get_weather input`, then `GetWeatherInput2`. */
  next(words: string): string;
}

/** Creates the names of one module. */
export function createTypeNames(): TypeNames {
  const counts = new Map<string, number>();
  const taken = new Set<string>();
  return {
    next(words) {
      const pascal = pascalCase(words);
      const base = GLOBAL_TYPES.has(pascal) ? `${pascal}Type` : pascal;
      let number = counts.get(base) ?? 1;
      let name = number === 1 ? base : `${base}${number}`;
      for (; taken.has(name); name = `${base}${number}`) number += 1;
      counts.set(base, number + 1);
      taken.add(name);
      return name;
    },
  };
}

/** Converts words to a type name: `get_weather input` to `GetWeatherInput`. */
function pascalCase(words: string): string {
  const isPlain = /^[\w ]{1,100}$/.test(words);
  const parts = isPlain
    ? words.replaceAll(" ", "_").split("_")
    : words.slice(0, 200).split(/[^\p{ID_Continue}]+|_+/u);
  let joined = "";
  for (const part of parts) joined += part.charAt(0).toUpperCase() + part.slice(1);
  const short = joined.slice(0, MAX_TYPE_NAME_CHARACTERS);
  if (/^[A-Z]\w*$/.test(short)) return short;
  const wellFormed = short.toWellFormed();
  const name = toIdentifier(/^\p{ID_Start}/u.test(wellFormed) ? wellFormed : `Type${wellFormed}`);
  return /^[A-Z\P{ASCII}]/u.test(name) ? name : `Type_${name}`;
}
