import type { FormatType } from '@switchyard/contract/schemas/field-schemas.ts';

/** The formats of an input, most common first. */
export const INPUT_FORMATS = [
  'json',
  'text',
  'csv-archive',
  'multi-file',
] as const satisfies readonly FormatType[];

const FORMATS_BY_ENDING: Readonly<Record<string, (typeof INPUT_FORMATS)[number]>> = {
  json: 'json',
  gz: 'multi-file',
  tgz: 'multi-file',
};

/** Returns the format that the ending of a file name suggests; a name with another ending is text. */
export function guessFormat(name: string): (typeof INPUT_FORMATS)[number] {
  const ending = name.toLowerCase().split('.').at(-1) ?? '';
  return FORMATS_BY_ENDING[ending] ?? 'text';
}
