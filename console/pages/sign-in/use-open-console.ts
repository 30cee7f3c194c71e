import { useNavigate, useRouter } from '@tanstack/react-router';

/** Returns the function that leaves the sign-in for a page of the console. It follows only addresses inside the console. */
export function useOpenConsole(): (next: string) => Promise<void> {
  const navigate = useNavigate();
  const router = useRouter();
  return async (next) => {
    await router.invalidate();
    const isInside = next.startsWith('/') && !next.startsWith('//') && !next.startsWith('/\\');
    if (!isInside || next === '/') return navigate({ to: '/', replace: true });
    router.history.replace(`/console${next}`);
  };
}
