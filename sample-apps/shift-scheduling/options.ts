/** Options arrive as `-name value` pairs, every value a string. */
import { InputError } from './json-parsing.ts';

/** A number option: what it is when absent, and the range it must lie in. */
export interface NumberOption {
  default: number;
  minimum: number;
  maximum: number;
  /** When set, only whole numbers pass. */
  whole?: boolean;
}

/** Reads argv (without program and script) against the definitions. Throws InputError that names the option. */
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
