/**
 * A small, fast generator of pseudo-random numbers (the "sfc32" scheme), so that a run is repeatable from its seed on
 * every machine. Its state is four 32-bit words; equal seeds give equal sequences.
 */
export class Random {
  private a = 0;
  private b = 0;
  private c: number;
  private counter = 1;

  constructor(seed: number) {
    this.a = Math.floor(seed / 0x1_0000_0000) | 0;
    this.b = seed | 0;
    this.c = 0x9e3779b9 | 0;
    // The first numbers still show the seed; a dozen rounds mix it in.
    for (let i = 0; i < 12; i++) this.bits();
  }

  /** A number from 0 up to but not including 1. */
  unit(): number {
    return (this.bits() >>> 0) * 2.3283064365386963e-10;
  }

  /** A whole number from 0 up to but not including `limit`. */
  below(limit: number): number {
    return (this.unit() * limit) | 0;
  }

  private bits(): number {
    const sum = (((this.a + this.b) | 0) + this.counter) | 0;
    this.counter = (this.counter + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = (((this.c << 21) | (this.c >>> 11)) + sum) | 0;
    return sum;
  }
}
