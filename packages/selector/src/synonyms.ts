import { stem } from "@cem/core/text";

/** Groups of synonyms in plain English and among developers, one line each. */
const GROUPS = `
  calculate compute evaluate solve
  add plus sum addition
  subtract minus subtraction deduct
  multiply multiplication
  divide ratio quotient division
  double twice
  arithmetic math maths mathematics mathematical
  get fetch retrieve obtain read load
  write save store create put overwrite
  delete remove erase
  list enumerate browse
  search find lookup
  weather temperature climate rain rainy snow sunny cloudy humidity
  forecast predict prediction outlook
  location city place town
  directory folder dir
  schema structure column
  database db sql sqlite
  email mail gmail
  picture image photo
  movie film
  song music
  car vehicle
  price cost
  repository repo
  issue ticket bug
  website webpage page site
  url link
  meeting appointment
  restaurant dining
  hotel accommodation
  flight plane airline
  job career
  recipe cooking
  translate translation
  summarize summary
`;

const SYNONYMS = new Map<string, Set<string>>();
for (const line of GROUPS.trim().split("\n")) {
  const stems = line.trim().split(/\s+/).map(stem);
  for (const word of stems) {
    SYNONYMS.set(word, new Set([...(SYNONYMS.get(word) ?? []), ...stems].filter((other) => other !== word)));
  }
}
const NONE: ReadonlySet<string> = new Set();

/** The stems of a stem's synonyms, without itself. */
export function synonymsOf(wordStem: string): ReadonlySet<string> {
  return SYNONYMS.get(wordStem) ?? NONE;
}
