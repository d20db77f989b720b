import type { Primordials } from "./primordials.ts";

type Constructors = Record<string, new (...args: unknown[]) => object>;

/** Creates the function that makes a view of the same bytes with the constructors of a realm. */
export function createViews(primordials: Primordials): (view: object, constructors: Constructors) => object {
  const { construct, dataViewBuffer, dataViewLength, dataViewOffset, isDetached } = primordials;
  const { typedArrayBuffer, typedArrayLength, typedArrayName, typedArrayOffset } = primordials;

  return (view, constructors) => {
    const name = typedArrayName(view);
    if (name === undefined) {
      const type = constructors["DataView"] as Constructors[string];
      return construct(type, [dataViewBuffer(view), dataViewOffset(view), dataViewLength(view)]);
    }
    const type = constructors[name] as Constructors[string];
    const buffer = typedArrayBuffer(view);
    if (isDetached(buffer)) return construct(type, []);
    return construct(type, [buffer, typedArrayOffset(view), typedArrayLength(view)]);
  };
}
