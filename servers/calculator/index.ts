/** Arithmetic: the four basic operations on two numbers, and whole expressions. */
export { add } from "./add.ts";
export { calculate } from "./calculate.ts";
export { divide } from "./divide.ts";
export { multiply } from "./multiply.ts";
export { subtract } from "./subtract.ts";
