/// <reference lib="dom" />

/** Makes a picture smaller, and tells the share of its pixels that differ from one of before. Runs in a browser. */
export async function compareInPage({
  shot,
  before,
  scale,
  most,
}: {
  shot: string;
  before: string | undefined;
  scale: number;
  /** The difference of a colour's part, of 255, from which a pixel counts as different. */
  most: number;
}): Promise<{ small: string; different: number }> {
  const draw = async (picture: string, by: number) => {
    const image = new Image();
    image.src = `data:image/png;base64,${picture}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(image.width / by);
    canvas.height = Math.round(image.height / by);
    const context = canvas.getContext("2d");
    if (context === null) throw new Error("There is no canvas.");
    context.imageSmoothingQuality = "high";
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return { canvas, pixels: context.getImageData(0, 0, canvas.width, canvas.height).data };
  };
  const now = await draw(shot, scale);
  const small = now.canvas.toDataURL("image/png").split(",")[1] ?? "";
  if (before === undefined) return { small, different: 0 };
  const { pixels } = await draw(before, 1);
  if (pixels.length !== now.pixels.length) return { small, different: 1 };
  let different = 0;
  for (let at = 0; at < pixels.length; at += 4) {
    const isOther = [0, 1, 2].some(
      (part) => Math.abs((pixels[at + part] ?? 0) - (now.pixels[at + part] ?? 0)) > most,
    );
    if (isOther) different += 1;
  }
  return { small, different: different / (pixels.length / 4) };
}
