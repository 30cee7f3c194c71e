import { useEffect } from 'react';

/** Sets the title of the window while the page is shown, most specific part first. */
export function usePageTitle(...parts: (string | undefined)[]): void {
  const title = [...parts.filter((part) => part), 'Switchyard'].join(' · ');
  useEffect(() => {
    document.title = title;
  }, [title]);
}
