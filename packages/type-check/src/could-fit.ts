import { declaredBy, isOptionalProperty, itemOf, membersOf } from "./type-facts.ts";
import { type Checker, SignatureKind, SymbolFlags, type Type, TypeFlags } from "./typescript.ts";

/** A deeper part of a type is taken to fit. */
const MAX_DEPTH = 6;
const OPEN = TypeFlags.Any | TypeFlags.Unknown | TypeFlags.Never | TypeFlags.TypeParameter;
const PRIMITIVE =
  TypeFlags.StringLike | TypeFlags.NumberLike | TypeFlags.BigIntLike | TypeFlags.BooleanLike | TypeFlags.Null;

/**
 * Whether some value of the given type may be of the wanted one. `string | null` could be a `string`, and a `string` could
 * be one of some literals: that is known when the code runs.
 */
export async function couldFit(given: Type, wanted: Type, checker: Checker, depth = 0): Promise<boolean> {
  if (depth === MAX_DEPTH || ((given.flags | wanted.flags) & OPEN) !== 0) return true;
  if (await checker.isTypeAssignableTo(given, wanted)) return true;
  const fits = async (one: Type, other: Type): Promise<boolean> => couldFit(one, other, checker, depth + 1);
  const members = await membersOf(given);
  if (members.length > 1) return some(members, (member) => fits(member, wanted));
  const options = await membersOf(wanted);
  if (options.length > 1) return some(options, (option) => fits(given, option));
  // The values of an enum are plain strings and numbers, which TypeScript tells apart from them.
  if ((given.flags & TypeFlags.EnumLike) !== 0) return (wanted.flags & PRIMITIVE) !== 0;
  if ((given.flags & TypeFlags.NonPrimitive) !== 0) return (wanted.flags & PRIMITIVE) === 0;
  if ((wanted.flags & PRIMITIVE) !== 0) return isPartOf(wanted, given, checker);
  if (!isObject(given) || !isObject(wanted)) return false;
  const [list, wantedList] = await Promise.all([itemOf(given, checker), itemOf(wanted, checker)]);
  if (list !== undefined || wantedList !== undefined) {
    return list !== undefined && wantedList !== undefined && fits(list, wantedList);
  }
  return (await isPlain(given, checker)) && objectFits(given, wanted, checker, depth + 1);
}

function isObject(type: Type): boolean {
  return type.isObjectType() || type.isIntersectionType();
}

/** Whether each value of one primitive type is one of another: `"a"` of `string`. */
async function isPartOf(part: Type, whole: Type, checker: Checker): Promise<boolean> {
  return (whole.flags & PRIMITIVE) !== 0 && checker.isTypeAssignableTo(part, whole);
}

/** Whether values of a type are objects with properties, not functions, dates, promises and the like. */
async function isPlain(type: Type, checker: Checker): Promise<boolean> {
  if ((await checker.getSignaturesOfType(type, SignatureKind.Call)).length > 0) return false;
  const symbol = await type.getSymbol();
  const isOfLibrary = symbol?.declarations.some((one) => declaredBy(one) === "library") === true;
  // A type made by `Record`, `Partial` and the like has a symbol of the library, too.
  return !isOfLibrary || (symbol.flags & (SymbolFlags.Interface | SymbolFlags.Class)) === 0;
}

async function objectFits(given: Type, wanted: Type, checker: Checker, depth: number): Promise<boolean> {
  const [own, properties, indexes, wantedIndexes] = await Promise.all([
    checker.getPropertiesOfType(given),
    checker.getPropertiesOfType(wanted),
    checker.getIndexInfosOfType(given),
    checker.getIndexInfosOfType(wanted),
  ]);
  const fits = async (one: Type, other: Type): Promise<boolean> => couldFit(one, other, checker, depth);
  const named = properties.map(async (property) => {
    const found = own.find(({ name }) => name === property.name);
    if (found === undefined && isOptionalProperty(property)) return true;
    const type = found === undefined ? indexes[0]?.valueType : await checker.getTypeOfSymbol(found);
    const wantedType = await checker.getTypeOfSymbol(property);
    return type !== undefined && (wantedType === undefined || fits(type, wantedType));
  });
  const [index] = wantedIndexes;
  const others = own
    .filter(({ name }) => index !== undefined && !properties.some((property) => property.name === name))
    .map(async (property) => {
      const type = await checker.getTypeOfSymbol(property);
      return type === undefined || index === undefined || fits(type, index.valueType);
    });
  return !(await Promise.all([...named, ...others])).includes(false);
}

async function some(types: readonly Type[], test: (type: Type) => Promise<boolean>): Promise<boolean> {
  for (const type of types) if (await test(type)) return true;
  return false;
}
