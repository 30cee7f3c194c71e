/**
 * Members share a limit with each of their keys.
 *
 * A key may use the whole share of its member. Its member has a reserve beyond the share, so that a key cannot shut the other
 * keys of the person out. In the reserve a key may have as much as is still free: the dynamic thresholds of Choudhury and
 * Hahne (1998), with the factor one. So some of the reserve stays free, however many keys a leaked key creates.
 */
import { readMember } from '../handlers/handler.ts';

/** The reserve as a share of the share. */
export const MEMBER_RESERVE = 0.25;

/** The amounts that holders use. */
export class SharedUse {
  readonly #amounts = new Map<string, number>();

  /** Returns the amount that the member of the holder uses with all keys. */
  countMember(holder: string): number {
    return this.#amounts.get(readMember(holder)) ?? 0;
  }

  /** Returns true if the holder may use that much more of a limit in which one member has the share. */
  fits(holder: string, amount: number, share: number): boolean {
    const own = (this.#amounts.get(holder) ?? 0) + amount;
    const all = this.countMember(holder);
    if (own > share) return false;
    return all + amount <= share || own <= Math.floor(share * (1 + MEMBER_RESERVE)) - all;
  }

  /** Counts one thing that the holder has open, until the returned function is called. Returns null if it does not fit. */
  open(holder: string, share: number): (() => void) | null {
    if (!this.fits(holder, 1, share)) return null;
    this.add(holder, 1);
    let isOpen = true;
    return () => {
      if (isOpen) this.add(holder, -1);
      isOpen = false;
    };
  }

  /** Adds the amount, or removes a negative one. */
  add(holder: string, amount: number): void {
    for (const one of new Set([holder, readMember(holder)])) {
      const total = (this.#amounts.get(one) ?? 0) + amount;
      if (total === 0) this.#amounts.delete(one);
      else this.#amounts.set(one, total);
    }
  }
}
