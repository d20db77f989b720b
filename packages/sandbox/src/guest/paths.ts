import { create, indexOfText, keys, sliceText, startsWith } from "./primordials.ts";

/** Folders of the guest's view and where they really are; empty where the view is the truth. */
let roots = create(null) as Record<string, string>;
/** Guest paths in `roots`, longest first. */
let prefixes: string[] = [];

/** What the addresses of this run's modules end in; empty where a guest has one run only. */
let mark = "";

export function runMark(): string {
  return mark;
}

export function setRunMark(ending: string): void {
  mark = ending;
}

/** Sets where the guest's folders really are. */
export function usePaths(paths: Record<string, string>): void {
  roots = paths;
  prefixes = keys(paths).toSorted((one, other) => other.length - one.length);
}

/** A path of the guest's view as the path that the operating system knows. */
export function toHostPath(path: string): string {
  for (let index = 0; index < prefixes.length; index += 1) {
    const prefix = prefixes[index] as string;
    if (path === prefix) return roots[prefix] as string;
    if (startsWith(path, `${prefix}/`)) return roots[prefix] + sliceText(path, prefix.length);
  }
  return path;
}

/** A path of the operating system as the guest sees it. */
export function toGuestPath(path: string): string {
  for (let index = 0; index < prefixes.length; index += 1) {
    const prefix = prefixes[index] as string;
    const root = roots[prefix] as string;
    if (path === root) return prefix;
    if (startsWith(path, `${root}/`)) return prefix + sliceText(path, root.length);
  }
  return path;
}

/** Text for people, with the places of the guest's view in it. */
export function toGuestText(text: string): string {
  let result = withoutMark(text);
  for (let index = 0; index < prefixes.length; index += 1) {
    const prefix = prefixes[index] as string;
    const root = roots[prefix] as string;
    for (
      let at = indexOfText(result, root, 0);
      at !== -1;
      at = indexOfText(result, root, at + prefix.length)
    ) {
      result = sliceText(result, 0, at) + prefix + sliceText(result, at + root.length);
    }
  }
  return result;
}

/** Text without what this run's modules end in. */
export function withoutMark(text: string): string {
  return mark === "" ? text : without(text, mark);
}

function without(text: string, part: string): string {
  let result = text;
  for (let at = indexOfText(result, part, 0); at !== -1; at = indexOfText(result, part, at)) {
    result = sliceText(result, 0, at) + sliceText(result, at + part.length);
  }
  return result;
}
