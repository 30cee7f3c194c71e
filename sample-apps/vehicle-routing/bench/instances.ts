/**
 * Reads published instances: the Solomon and Homberger layout (`.txt`), VRPLIB (`.vrp`) and best-known solutions
 * (`.sol`). All numbers of an instance are whole. Routing with time windows counts in tenths, so its distances are truncated
 * to one decimal (the DIMACS convention). Capacitated routing rounds to the nearest integer.
 */
import { readFileSync } from 'node:fs';

type Customer = { x: number; y: number; demand: number; from: number; to: number; service: number };

export type Instance = {
  name: string;
  hasTimeWindows: boolean;
  /** The depot is number 0. */
  nodes: Customer[];
  capacity: number;
  /** Most vehicles allowed. */
  vehicles: number;
  /** By what the cost is divided for display. */
  scale: number;
  bestKnown: { cost: number; routes: number[][] };
};

/** Reads an instance and the solution beside it. */
export function readInstance(path: string): Instance {
  const text = readFileSync(path, 'utf8');
  const instance = path.endsWith('.txt') ? readSolomon(text) : readVrplib(text);
  return { ...instance, bestKnown: readSolution(path.replace(/\.(txt|vrp)$/, '.sol')) };
}

/** Distance between two customers of the instance, in its whole units. */
export function distanceBetween(instance: Instance, from: number, to: number): number {
  const [a, b] = [instance.nodes[from], instance.nodes[to]];
  const straight = Math.sqrt((a.x - b.x) ** 2 + (a.y - b.y) ** 2);
  return instance.hasTimeWindows ? Math.floor(straight * instance.scale) : Math.floor(straight + 0.5);
}

type Read = Omit<Instance, 'bestKnown'>;

function parseNumbers(line: string): number[] {
  return line.trim().split(/\s+/).map(Number);
}

function readSolomon(text: string): Read {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  const rows = lines.map(parseNumbers).filter((row) => row.length >= 2 && row.every(Number.isFinite));
  const [[vehicles, capacity], ...customers] = rows;
  const nodes = customers.map(([, x, y, demand, from, to, service]) => ({
    x,
    y,
    demand,
    from: from * 10,
    to: to * 10,
    service: service * 10,
  }));
  return { name: lines[0].trim(), hasTimeWindows: true, nodes, capacity, vehicles, scale: 10 };
}

function readVrplib(text: string): Read {
  const header = new Map<string, string>();
  const sections = new Map<string, number[][]>();
  let section: number[][] | null = null;
  for (const raw of text.split(/\r?\n/)) {
    const line = raw.trim();
    const field = /^([A-Z_]+)\s*:\s*(.*)$/.exec(line);
    if (line === '' || line === 'EOF') continue;
    if (field) header.set(field[1], field[2]);
    else if (/^[A-Z_]+_SECTION$/.test(line)) {
      section = [];
      sections.set(line, section);
    } else section?.push(parseNumbers(line));
  }
  const listRows = (name: string) => sections.get(`${name}_SECTION`) ?? [];
  const windows = listRows('TIME_WINDOW');
  const timed = windows.length > 0;
  const scale = timed ? 10 : 1;
  const service = Number(header.get('SERVICE_TIME') ?? 0) * scale;
  const demands = listRows('DEMAND');
  const nodes = listRows('NODE_COORD').map(([, x, y], i) => ({
    x,
    y,
    demand: demands[i][1],
    from: timed ? windows[i][1] * scale : 0,
    to: timed ? windows[i][2] * scale : Number.POSITIVE_INFINITY,
    service: i === 0 ? 0 : service,
  }));
  const capacity = Number(header.get('CAPACITY'));
  // Without a number the fleet is unlimited; a third more than the demand needs is as good as that.
  const needed = Math.ceil(nodes.reduce((sum, node) => sum + node.demand, 0) / capacity);
  const vehicles = Number(header.get('VEHICLES') ?? Math.ceil(needed * 1.33) + 3);
  return { name: header.get('NAME') ?? '', hasTimeWindows: timed, nodes, capacity, vehicles, scale };
}

function readSolution(path: string): Instance['bestKnown'] {
  const lines = readFileSync(path, 'utf8').split(/\r?\n/);
  const routes = lines.flatMap((line) => {
    const match = /^Route #\d+:(.*)$/.exec(line);
    return match ? [parseNumbers(match[1])] : [];
  });
  const cost = lines.map((line) => /^Cost\s+([\d.]+)/.exec(line)).find((match) => match !== null);
  return { cost: Number(cost?.[1]), routes };
}
