/**
 * The only module that imports TypeScript's API, which is unstable: the version of the package is pinned. It takes as
 * long to load as a check, and is loaded when there is something to explain.
 */
export * from "typescript/unstable/ast";
export { API, NodeBuilderFlags, SignatureKind, SymbolFlags, TypeFlags } from "typescript/unstable/async";
export type { Checker, NodeHandle, Signature, Symbol, Type } from "typescript/unstable/async";
