/** Collects the improvements of one run, prints each on standard error, and builds the v1 statistics from them. */

export type CustomStatistics = Record<string, number | string | boolean>;

export interface Statistics {
  schema: 'v1';
  run: { duration: number; iterations?: number };
  result: { duration: number; value?: number; custom: CustomStatistics };
  series_data: { value: { name: string; data_points: { x: number; y: number }[] } };
}

/** The platform ignores statistics beyond 10 kB; this many points stay well below. */
const pointsMaximum = 100;

export function roundValue(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

export class Progress {
  private readonly startedAt = performance.now();
  private readonly points: { x: number; y: number }[] = [];
  private lastImprovementAt = 0;

  /** Returns the seconds since the start of the run. */
  elapsedSeconds(): number {
    return (performance.now() - this.startedAt) / 1000;
  }

  /** Records an improvement if it is better than the last one. An infinite bound is printed as unknown. */
  recordImprovement(value: number, bound: number): void {
    const last = this.points.at(-1);
    if (last && value > last.y - 1e-9) return;
    const x = roundValue(this.elapsedSeconds());
    this.lastImprovementAt = x;
    this.points.push({ x, y: roundValue(value) });
    this.print(value, bound);
  }

  private print(value: number, bound: number): void {
    const boundText = Number.isFinite(bound) ? bound.toFixed(2) : 'unknown';
    console.error(
      `${this.elapsedSeconds().toFixed(2).padStart(8)} s  value ${value.toFixed(2)}  bound ${boundText}`,
    );
    this.printSeries(value, bound);
  }

  /** Prints a point of the curve that the platform draws while the run is active; also at its end, with the last bound. */
  printSeries(value: number, bound: number): void {
    const hasGap = Number.isFinite(bound) && value > 0;
    const gap = hasGap && { bound: roundValue(bound), gap: roundValue(Math.max(0, value - bound) / value) };
    console.error(JSON.stringify({ series: { objective: roundValue(value), ...gap } }));
  }

  /** Builds the statistics; `value` is absent without a solution. */
  buildStatistics(value: number | null, custom: CustomStatistics, iterations?: number): Statistics {
    return {
      schema: 'v1',
      run: {
        duration: roundValue(this.elapsedSeconds()),
        ...(iterations === undefined ? {} : { iterations }),
      },
      result: {
        duration: this.lastImprovementAt,
        ...(value === null ? {} : { value: roundValue(value) }),
        custom,
      },
      series_data: { value: { name: 'incumbent', data_points: this.thinned() } },
    };
  }

  private thinned(): { x: number; y: number }[] {
    const step = Math.ceil(this.points.length / pointsMaximum);
    return this.points.filter((_, index) => index % step === 0 || index === this.points.length - 1);
  }
}
