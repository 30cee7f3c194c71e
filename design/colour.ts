/** Differences and contrasts of colours, as people with usual colour vision and with three kinds of dichromacy see them. */

/** A colour in CIELAB, for the white of daylight (D65). */
export type Lab = readonly [lightness: number, a: number, b: number];
/** A colour in linear sRGB, each part from 0 to 1. */
type Linear = readonly [red: number, green: number, blue: number];
type Row = readonly [number, number, number];
type Matrix = readonly [Row, Row, Row];

/** Linear sRGB as it is seen: Machado, Oliveira and Fernandes, 2009, with severity 1. */
export const VISIONS: Readonly<Record<string, Matrix>> = {
  usual: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

const TO_XYZ: Matrix = [
  [0.4124564, 0.3575761, 0.1804375],
  [0.2126729, 0.7151522, 0.072175],
  [0.0193339, 0.119192, 0.9503041],
];
const WHITE: Row = [0.95047, 1, 1.08883];

function multiply(matrix: Matrix, [x, y, z]: Row): Row {
  const sum = ([a, b, c]: Row) => a * x + b * y + c * z;
  return [sum(matrix[0]), sum(matrix[1]), sum(matrix[2])];
}

/** Reads `#rrggbb`. */
export function parseHex(hex: string): Linear {
  const read = (at: number) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  };
  return [read(1), read(3), read(5)];
}

/** Returns the contrast of two colours, from 1 to 21 (WCAG 2.2). */
export function computeContrast(one: string, other: string): number {
  const luminance = (hex: string) => {
    const [red, green, blue] = parseHex(hex);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/** Returns a colour in CIELAB, as a kind of vision sees it. */
export function seeAs(vision: Matrix, colour: Linear): Lab {
  const clamp = (part: number) => Math.min(1, Math.max(0, part));
  const [red, green, blue] = multiply(vision, colour);
  const [x, y, z] = multiply(TO_XYZ, [clamp(red), clamp(green), clamp(blue)]);
  const scale = (part: number) => (part > 216 / 24_389 ? Math.cbrt(part) : ((24_389 / 27) * part + 16) / 116);
  const [fx, fy, fz] = [scale(x / WHITE[0]), scale(y / WHITE[1]), scale(z / WHITE[2])];
  return [116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)];
}

const toRadians = (degrees: number) => (degrees * Math.PI) / 180;

function getHue(a: number, b: number): number {
  const degrees = (Math.atan2(b, a) * 180) / Math.PI;
  return degrees < 0 ? degrees + 360 : degrees;
}

/** Returns the weight of a chroma between 0 and 1, which differs from 0 for colours that are not grey. */
const weighChroma = (chroma: number) => Math.sqrt(chroma ** 7 / (chroma ** 7 + 25 ** 7));

/** Returns the difference of two colours by CIEDE2000, in the notation of Sharma, Wu and Dalal, 2005. */
export function computeDifference([l1, a1, b1]: Lab, [l2, a2, b2]: Lab): number {
  const stretch = 1 + (1 - weighChroma((Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2)) / 2;
  const [c1, c2] = [Math.hypot(a1 * stretch, b1), Math.hypot(a2 * stretch, b2)];
  const [h1, h2] = [getHue(a1 * stretch, b1), getHue(a2 * stretch, b2)];
  const isGrey = c1 * c2 === 0;
  // The shorter way around the circle of hues.
  const turn = isGrey ? 0 : ((h2 - h1 + 540) % 360) - 180;
  const chroma = (c1 + c2) / 2;
  const hue = isGrey ? h1 + h2 : findMeanHue(h1, h2);
  const lightness = (l1 + l2) / 2 - 50;
  const tone =
    1 -
    0.17 * Math.cos(toRadians(hue - 30)) +
    0.24 * Math.cos(toRadians(2 * hue)) +
    0.32 * Math.cos(toRadians(3 * hue + 6)) -
    0.2 * Math.cos(toRadians(4 * hue - 63));
  const dl = (l2 - l1) / (1 + (0.015 * lightness ** 2) / Math.sqrt(20 + lightness ** 2));
  const dc = (c2 - c1) / (1 + 0.045 * chroma);
  const dh = (2 * Math.sqrt(c1 * c2) * Math.sin(toRadians(turn / 2))) / (1 + 0.015 * chroma * tone);
  const rotation = -2 * weighChroma(chroma) * Math.sin(toRadians(60 * Math.exp(-(((hue - 275) / 25) ** 2))));
  return Math.sqrt(dl ** 2 + dc ** 2 + dh ** 2 + rotation * dc * dh);
}

function findMeanHue(h1: number, h2: number): number {
  const mean = (h1 + h2) / 2;
  if (Math.abs(h1 - h2) <= 180) return mean;
  return mean < 180 ? mean + 180 : mean - 180;
}
