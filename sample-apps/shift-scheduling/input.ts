/** The input and its parser, which rejects everything else. README.md describes the format. */
import {
  InputError,
  parseList,
  parseNumber,
  parseObject,
  parseText,
  requireUniqueIds,
} from './json-parsing.ts';

/** An interval of wall-clock time; both ends in minutes since 1970, as written, without a time zone. */
interface Interval {
  start: number;
  end: number;
}

export interface Employee {
  id: string;
  skills: string[];
  availability: Interval[];
  hoursMinimum: number;
  /** Further hours are overtime. */
  hoursContract: number;
  hoursMaximum: number;
  /** Cost by shift id; negative for shifts that the employee prefers. */
  preferences: Map<string, number>;
}

interface Demand {
  skill: string;
  count: number;
  /** Cost of each missing person. */
  penalty: number;
}

export interface Shift extends Interval {
  id: string;
  hours: number;
  demand: Demand[];
}

export interface Problem {
  employees: Employee[];
  shifts: Shift[];
  restMinutes: number;
  /** Infinity without such a rule. */
  consecutiveDaysMaximum: number;
  overtimePerHour: number;
}

const timePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/;

function asMinutes(value: unknown, path: string): number {
  const text = parseText(value, path);
  const milliseconds = timePattern.test(text) ? Date.parse(`${text}:00Z`) : Number.NaN;
  if (Number.isNaN(milliseconds)) {
    throw new InputError(`${path} is ${JSON.stringify(text)}: it must be a time like 2026-03-02T07:00`);
  }
  return milliseconds / 60_000;
}

function asInterval(start: unknown, end: unknown, path: string): Interval {
  const interval = { start: asMinutes(start, `${path}.start`), end: asMinutes(end, `${path}.end`) };
  if (interval.end <= interval.start) {
    throw new InputError(`${path}.end is ${JSON.stringify(end)}: it must be later than start`);
  }
  return interval;
}

function readEmployee(value: unknown, path: string): Employee {
  const fields = ['id', 'skills', 'availability', 'min_hours', 'contract_hours', 'max_hours', 'preferences'];
  const raw = parseObject(value, path, fields);
  const hoursMaximum = parseNumber(raw.max_hours, `${path}.max_hours`, { minimum: 0, maximum: 10_000 });
  const preferences = parseList(raw.preferences, `${path}.preferences`, true).map((entry, index) => {
    const where = `${path}.preferences[${index}]`;
    const preference = parseObject(entry, where, ['shift', 'cost']);
    const cost = parseNumber(preference.cost, `${where}.cost`, { minimum: -1e6, maximum: 1e6 });
    return [parseText(preference.shift, `${where}.shift`), cost] as const;
  });
  return {
    id: parseText(raw.id, `${path}.id`),
    skills: parseList(raw.skills, `${path}.skills`).map((skill, i) =>
      parseText(skill, `${path}.skills[${i}]`),
    ),
    availability: parseList(raw.availability, `${path}.availability`).map((entry, index) => {
      const where = `${path}.availability[${index}]`;
      const { start, end } = parseObject(entry, where, ['start', 'end']);
      return asInterval(start, end, where);
    }),
    hoursMinimum: parseNumber(raw.min_hours, `${path}.min_hours`, {
      minimum: 0,
      maximum: hoursMaximum,
      otherwise: 0,
    }),
    hoursContract: parseNumber(raw.contract_hours, `${path}.contract_hours`, {
      minimum: 0,
      maximum: 10_000,
      otherwise: hoursMaximum,
    }),
    hoursMaximum,
    preferences: new Map(preferences),
  };
}

function readShift(value: unknown, path: string, penalty: number): Shift {
  const raw = parseObject(value, path, ['id', 'start', 'end', 'demand']);
  const interval = asInterval(raw.start, raw.end, path);
  const demand = parseList(raw.demand, `${path}.demand`).map((entry, index) => {
    const where = `${path}.demand[${index}]`;
    const seat = parseObject(entry, where, ['skill', 'count', 'penalty']);
    return {
      skill: parseText(seat.skill, `${where}.skill`),
      count: parseNumber(seat.count, `${where}.count`, { minimum: 0, maximum: 10_000, whole: true }),
      penalty: parseNumber(seat.penalty, `${where}.penalty`, {
        minimum: 0,
        maximum: 1e6,
        otherwise: penalty,
      }),
    };
  });
  requireUniqueIds(
    demand.map((seat) => seat.skill),
    `${path}.demand`,
  );
  const hours = (interval.end - interval.start) / 60;
  return { id: parseText(raw.id, `${path}.id`), ...interval, hours, demand };
}

/** Parses the whole input. Throws InputError with the field, its value and the remedy. */
export function readProblem(value: unknown): Problem {
  const raw = parseObject(value, 'the input', ['employees', 'shifts', 'rules', 'costs']);
  const rules = parseObject(raw.rules ?? {}, 'rules', ['rest_hours', 'max_consecutive_days']);
  const costs = parseObject(raw.costs ?? {}, 'costs', ['uncovered', 'overtime_per_hour']);
  const uncovered = parseNumber(costs.uncovered, 'costs.uncovered', {
    minimum: 0,
    maximum: 1e6,
    otherwise: 100,
  });

  const employees = parseList(raw.employees, 'employees').map((e, i) => readEmployee(e, `employees[${i}]`));
  const shifts = parseList(raw.shifts, 'shifts').map((s, i) => readShift(s, `shifts[${i}]`, uncovered));
  requireUniqueIds(
    employees.map((employee) => employee.id),
    'employees',
  );
  const shiftIds = shifts.map((shift) => shift.id);
  requireUniqueIds(shiftIds, 'shifts');
  const known = new Set(shiftIds);
  for (const employee of employees) {
    for (const id of employee.preferences.keys()) {
      if (!known.has(id)) {
        throw new InputError(
          `a preference of employee ${JSON.stringify(employee.id)} is for shift ${JSON.stringify(id)}: it must be the id of a shift`,
        );
      }
    }
  }
  return {
    employees,
    shifts: shifts.sort((a, b) => a.start - b.start || a.end - b.end),
    restMinutes:
      60 * parseNumber(rules.rest_hours, 'rules.rest_hours', { minimum: 0, maximum: 168, otherwise: 11 }),
    consecutiveDaysMaximum: parseNumber(rules.max_consecutive_days, 'rules.max_consecutive_days', {
      minimum: 1,
      maximum: 366,
      whole: true,
      otherwise: Number.POSITIVE_INFINITY,
    }),
    overtimePerHour: parseNumber(costs.overtime_per_hour, 'costs.overtime_per_hour', {
      minimum: 0,
      maximum: 1e6,
      otherwise: 10,
    }),
  };
}

/** Returns whether the employee is available for the whole shift. */
export function isAvailable(employee: Employee, shift: Shift): boolean {
  return employee.availability.some(({ start, end }) => start <= shift.start && shift.end <= end);
}

/** Returns the day for which a shift counts: that of its start, in whole days since 1970. */
export function startDay(shift: Shift): number {
  return Math.floor(shift.start / 1440);
}
