import { type RefObject, useEffect } from 'react';

/**
 * Shows and hides a popover of the browser as `isOpen` says, at the element from which it opens. Undefined leaves that to the
 * browser.
 */
export function usePopover(
  popover: RefObject<HTMLElement | null>,
  source: RefObject<HTMLElement | null>,
  isOpen: boolean | undefined,
): void {
  useEffect(() => {
    const element = popover.current;
    if (!element || isOpen === undefined || isOpen === element.matches(':popover-open')) return;
    if (!isOpen) element.hidePopover();
    else element.showPopover({ ...(source.current && { source: source.current }) });
  }, [popover, source, isOpen]);
}
