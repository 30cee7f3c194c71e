/** The options of the app: `-<name> <value>` on the command line. The same list stands in `app.yaml`. */
import { findNearestName, InputError } from './input/fields.ts';
import { defaultSettings, type SearchSettings } from './search/search.ts';

export type Options = {
  duration: number;
  iterations: number;
  seed: number;
  'temperature.start': number;
  'temperature.end': number;
  'removed.average': number;
  'removed.longest': number;
  'blink.rate': number;
  'log.interval': number;
  map: boolean;
};

export const defaultOptions: Options = {
  duration: defaultSettings.duration,
  iterations: defaultSettings.iterations,
  seed: defaultSettings.seed,
  'temperature.start': defaultSettings.startTemperature,
  'temperature.end': defaultSettings.endTemperature,
  'removed.average': defaultSettings.averageRemoved,
  'removed.longest': defaultSettings.longestString,
  'blink.rate': defaultSettings.blinkRate,
  'log.interval': 0.5,
  map: true,
};

const whole = ['iterations', 'seed', 'removed.average', 'removed.longest'];

const ranges: Record<Exclude<keyof Options, 'map'>, [least: number, most: number]> = {
  duration: [0, 86_400],
  iterations: [0, 1e12],
  seed: [0, Number.MAX_SAFE_INTEGER],
  'temperature.start': [1e-9, 1000],
  'temperature.end': [1e-9, 1000],
  'removed.average': [1, 1000],
  'removed.longest': [1, 1000],
  'blink.rate': [0, 0.5],
  'log.interval': [0, 3600],
};

/** Reads the arguments after the program's name. Throws InputError with one sentence. */
export function readOptions(args: readonly string[]): Options {
  const options = { ...defaultOptions };
  const names = Object.keys(defaultOptions);
  for (let i = 0; i < args.length; i += 2) {
    const name = args[i].replace(/^--?/, '');
    if (!args[i].startsWith('-') || !names.includes(name)) {
      throw new InputError(`${args[i]} is not an option; did you mean "-${findNearestName(name, names)}"?`);
    }
    const value = args[i + 1];
    if (value === undefined) throw new InputError(`-${name} has no value; write "-${name} <value>".`);
    if (name === 'map') options.map = readBoolean(value);
    else if (isNumeric(name)) options[name] = readNumeric(name, value);
  }
  if (options.duration === 0 && options.iterations === 0) {
    throw new InputError(
      '-duration and -iterations are both 0, so the search would never end; give one of them a limit.',
    );
  }
  return options;
}

export function toSearchSettings(options: Options): SearchSettings {
  return {
    duration: options.duration,
    iterations: options.iterations,
    seed: options.seed,
    startTemperature: options['temperature.start'],
    endTemperature: options['temperature.end'],
    averageRemoved: options['removed.average'],
    longestString: options['removed.longest'],
    blinkRate: options['blink.rate'],
  };
}

function isNumeric(name: string): name is Exclude<keyof Options, 'map'> {
  return name in ranges;
}

function readBoolean(value: string): boolean {
  if (value !== 'true' && value !== 'false')
    throw new InputError(`-map is ${JSON.stringify(value)}; it must be true or false.`);
  return value === 'true';
}

function readNumeric(name: Exclude<keyof Options, 'map'>, value: string): number {
  const [least, most] = ranges[name];
  const number = Number(value);
  const integral = whole.includes(name);
  if (
    value.trim() === '' ||
    !(number >= least && number <= most) ||
    (integral && !Number.isInteger(number))
  ) {
    throw new InputError(
      `-${name} is ${JSON.stringify(value)}; it must be a ${integral ? 'whole ' : ''}number from ${least} to ${most}.`,
    );
  }
  return number;
}
