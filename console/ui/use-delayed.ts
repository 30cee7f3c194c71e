import { useEffect, useState } from 'react';

/** Shorter waits show nothing, because a flash distracts. */
const DELAY_MS = 500;

/** Returns true once `isBusy` has been true for half a second. */
export function useDelayed(isBusy: boolean): boolean {
  const [isDelayed, setDelayed] = useState(false);
  useEffect(() => {
    if (!isBusy) return setDelayed(false);
    const timer = setTimeout(() => setDelayed(true), DELAY_MS);
    return () => clearTimeout(timer);
  }, [isBusy]);
  return isDelayed;
}
