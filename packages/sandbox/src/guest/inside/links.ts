import type { Primordials } from "./primordials.ts";

/** Which object of one realm stands for which of the other. */
export interface Links {
  /** The object of this realm that stands for an outer one. */
  innerOf(outside: object): object | undefined;
  /** The outer object that an object of this realm stands for. */
  outerOf(inside: object): object | undefined;
  link(outside: object, inside: object): void;
  /** Links for the way in alone. */
  linkInward(outside: object, inside: object): void;
  /** Links for the way out alone. */
  linkOutward(outside: object, inside: object): void;
  /** Whether an object is one of this realm, by the end of its prototypes. One without prototypes belongs to none. */
  isInner(value: object): boolean;
  isOuter(value: object): boolean;
  /** Whether an object of this realm is more than what it stands for: a part of the language, or of a program's class. */
  isWhole(inside: object): boolean;
  setWhole(inside: object): void;
  isObject(value: unknown): value is object;
}

/** Creates the links of a realm, beginning with those of the language itself. */
export function createLinks(
  primordials: Primordials,
  outerIntrinsics: readonly object[],
  intrinsics: readonly object[],
): Links {
  const { SafeWeakMap, getPrototypeOf } = primordials;
  const inner = new SafeWeakMap<object>();
  const outer = new SafeWeakMap<object>();
  const wholes = new SafeWeakMap<boolean>();
  // `Object.prototype`, with which the prototypes of nearly every object end.
  const innerRoot = intrinsics[0] as object;
  const outerRoot = outerIntrinsics[0] as object;

  function rootOf(value: object): object {
    let root = value;
    for (let next = getPrototypeOf(value); next !== null; next = getPrototypeOf(next)) root = next;
    return root;
  }

  const links: Links = {
    innerOf: (outside) => inner.get(outside),
    outerOf: (inside) => outer.get(inside),
    link(outside, inside) {
      outer.set(inside, outside);
      inner.set(outside, inside);
    },
    linkInward: (outside, inside) => inner.set(outside, inside),
    linkOutward: (outside, inside) => outer.set(inside, outside),
    isInner: (value) => rootOf(value) === innerRoot,
    isOuter: (value) => rootOf(value) === outerRoot,
    isWhole: (inside) => wholes.get(inside) === true,
    setWhole: (inside) => wholes.set(inside, true),
    isObject: (value): value is object =>
      (typeof value === "object" && value !== null) || typeof value === "function",
  };
  for (let index = 0; index < intrinsics.length; index += 1) {
    links.link(outerIntrinsics[index] as object, intrinsics[index] as object);
    links.setWhole(intrinsics[index] as object);
  }
  return links;
}
