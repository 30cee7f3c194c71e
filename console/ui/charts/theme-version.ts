import { useEffect, useState } from 'react';

/** Returns a number that changes with the theme, because a canvas does not follow the style sheet. */
export function useThemeVersion(): number {
  const [version, setVersion] = useState(0);
  useEffect(() => {
    const update = () => setVersion((previous) => previous + 1);
    const system = matchMedia('(prefers-color-scheme: dark)');
    const observer = new MutationObserver(update);
    system.addEventListener('change', update);
    observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      system.removeEventListener('change', update);
      observer.disconnect();
    };
  }, []);
  return version;
}
