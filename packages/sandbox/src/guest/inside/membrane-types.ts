type Callable = (...args: unknown[]) => unknown;

/** Functions and data that the guest's own realm passes to the membrane. Hidden from programs. */
export interface OuterRealm {
  /** Its global object. */
  readonly global: object;
  /** Its counterparts of what {@link listIntrinsics} gives in a realm, in the same order. */
  readonly intrinsics: readonly object[];
  /** Tests of what an object is, for objects of any realm. */
  readonly is: Readonly<
    Record<
      "anyArrayBuffer" | "arrayBufferView" | "date" | "map" | "nativeError" | "promise" | "regExp" | "set",
      (value: unknown) => boolean
    >
  >;
  /** Makes a function of the outer realm. */
  readonly makeFunction: (
    call: (self: unknown, args: readonly unknown[]) => unknown,
    name?: string,
    length?: number,
  ) => object;
  readonly kinds: { get(method: object): FunctionKind | undefined };
  /** Names of functions whose promises always settle, or that always call back, such as those that read files. */
  readonly finite: { get(method: object): string | undefined };
  /** Functions whose promises a timer settles, with the place of its milliseconds among the arguments. */
  readonly delays: { get(method: object): number | undefined };
  /** Prototypes of instances that all runs have, though a function returns them. */
  readonly singletons: { has(prototype: object): boolean };
  /** Objects of the runtime that each realm replaces by its own version; gives the name of the replacement. */
  readonly replaced: { get(value: object): string | undefined };
  /** Settings of the runtime, which a program changes for its own run at the cost of the guest. */
  readonly live: { has(value: object): boolean };
  /** Replaces host paths in what goes in: in a text that is one, and anywhere in a text. Absent where none can show. */
  readonly toGuest?: { path(text: string): string; text(text: string): string } | undefined;
  /** Prototypes, and instances of classes, that all runs have and that can't be frozen. */
  readonly shared: SharedObjects;
}

/**
 * `reading`: a function that only reads its arguments, of whatever realm, and so gets them as they are. `lasting`: one
 * that changes something for every later run.
 */
export type FunctionKind = "reading" | "lasting";

/**
 * Where a value of the outer realm is from. `made`: it was made for this run. `runtime`: it is a part of the runtime,
 * which all runs have and nothing changes. `state`: it belongs to such a part, which changes it itself.
 */
export type Origin = "made" | "runtime" | "state";

/** The objects that all runs have and that a method could change. */
export interface SharedObjects {
  has(object: object): boolean;
  add(object: object, isPrototype: boolean): void;
  /** Makes an object unchangeable, apart from members that it makes itself when they are first read. */
  fix(object: object): void;
  /** Whether a method changes nothing there that a later run could see. */
  owns(object: object, method: object): boolean;
}

/** Converts values between one realm and the outer one. */
export interface Membrane {
  /** A value of the outer realm as one of this realm. */
  inward(value: unknown, origin?: Origin): unknown;
  /** A value of this realm as one of the outer realm. */
  outward(value: unknown): unknown;
  /** The outer object that an object of this realm stands for, else the value itself. */
  unwrap(value: unknown): unknown;
  /** Calls a function of the outer realm with values of this one. */
  call(target: object, self: unknown, args: readonly unknown[], origin?: Origin): unknown;
  /** Makes an instance of a class of the outer realm, or of a program's class that extends one. */
  construct(target: object, base: object, args: readonly unknown[], newTarget: Callable): object;
  /** Runs code that may throw in the outer realm, and converts its errors to errors of this realm. */
  guarded<Result>(action: () => Result): Result;
  /** Lets objects of both realms stand for each other. */
  link(outside: object, inside: object): void;
  /** Lets an object of this realm take the place of an outer one on its way in. */
  replace(outside: object, inside: object): void;
  /** The object of this realm that stands for an outer one, else the value itself. */
  ownOf(value: unknown): unknown;
}
