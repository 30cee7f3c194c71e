/** Parses options of the form `-name value`; every value is a string. */
import { InputError } from './json-parsing.ts';

/** A number option: its default and its range. */
export interface NumberOption {
  default: number;
  minimum: number;
  maximum: number;
  /** Accepts whole numbers only. */
  whole?: boolean;
}

/** Parses argv (without program and script) by the definitions. Throws InputError with the name of the option. */
export function readOptions<Name extends string>(
  argv: readonly string[],
  definitions: Record<Name, NumberOption>,
): Record<Name, number> {
  const names = Object.keys(definitions) as Name[];
  const options = Object.fromEntries(names.map((name) => [name, definitions[name].default])) as Record<
    Name,
    number
  >;
  for (let position = 0; position < argv.length; position += 2) {
    const flag = argv[position] ?? '';
    const name = names.find((known) => flag === `-${known}` || flag === `--${known}`);
    if (!name) {
      throw new InputError(
        `option ${JSON.stringify(flag)} is unknown: the options are ${names.map((n) => `-${n}`).join(', ')}`,
      );
    }
    const text = argv[position + 1];
    if (text === undefined) throw new InputError(`option -${name} has no value: it takes a number`);
    options[name] = toNumber(name, text, definitions[name]);
  }
  return options;
}

function toNumber(name: string, text: string, { minimum, maximum, whole }: NumberOption): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (!(value >= minimum && value <= maximum) || (whole && !Number.isInteger(value))) {
    const kind = whole ? 'a whole number' : 'a number';
    throw new InputError(
      `option -${name} is ${JSON.stringify(text)}: it must be ${kind} from ${minimum} to ${maximum}`,
    );
  }
  return value;
}
