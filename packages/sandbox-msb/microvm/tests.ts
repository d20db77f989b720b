// In this order: first what is tried at all, then the tests.
await import("./selection.ts");
await import("./machines.test.ts");
await import("./contract.test.ts");
await import("./measure.test.ts");
