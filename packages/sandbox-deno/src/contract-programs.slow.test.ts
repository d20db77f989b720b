import { describeContractAt } from "./testing/backends.ts";

await describeContractAt("namespaces", ["programs"]);
