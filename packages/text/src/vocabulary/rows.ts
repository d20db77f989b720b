import { byMeaning } from "./phrases.ts";

/** What a step does with rows, by how it begins. */
export const ROW_VERBS = byMeaning({
  ask: "get, fetch, find, show, list, display, give, retrieve, return, select, pick, query, search, look up, read, load, extract, collect, report, tell, what is, what are, what was, who is, who are, which is, which are, query for, search for, look for, get all, query database for, query db for, search database for, search db for, ask database for, look in database for, query database, query database to get, query database to find, which, who, what",
  compute: "calculate, compute, determine, work out, find out",
  print: "print, log, echo, output",
  keep: "filter, filter for, filter to, filter down to, filter them for, filter it for, filter them, filter it, keep, keep only, only keep, take, take only, select only, only, keep just, restrict to, restrict them to, narrow down to",
  drop: "remove, exclude, filter out, leave out, discard, drop, omit, skip, ignore",
  sort: "sort, order, rank, arrange",
  group: "group",
  limit: "limit, cut, restrict",
});

/** Words that mean rows that were spoken of, whatever they are. */
export const ROW_PRONOUNS = byMeaning({
  rows: "them, it, these, those, they, that, all of them, all of those, each of them, rows, row, records, record, entries, entry, items, item, results, result, elements, ones, one, list, data, whole list",
});

/** People, whatever the rows call them. */
export const PEOPLE = byMeaning({ people: "people, persons, everyone, everybody, anyone, anybody, person" });

/** Nouns that name a column rather than rows, where the columns are not known before the program runs. */
export const COLUMN_NOUNS: ReadonlySet<string> = new Set(
  "names emails titles ids ages cities countries addresses phones prices dates descriptions urls statuses totals amounts scores categories salaries".split(
    " ",
  ),
);

/** How a row came about: its date is the one of its making. */
export const MAKING_VERBS: ReadonlySet<string> = new Set(
  "joined created registered added placed made bought ordered purchased dated signed entered".split(" "),
);

export const MONTHS =
  "january february march april may june july august september october november december".split(" ");

/** Columns of places. */
export const PLACE_COLUMNS: ReadonlySet<string> = new Set(
  "city town location place country region state address".split(" "),
);
