// In this order: first what is tried at all, then the tests.
import "./selection.ts";
import "./machines.test.ts";
import "./contract.test.ts";
