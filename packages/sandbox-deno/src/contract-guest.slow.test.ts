import { describeContractAt } from "./contract-testing.ts";

await describeContractAt("namespaces", ["guest"]);
