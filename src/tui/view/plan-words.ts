/** A planner's answer is JSON for the program; people read what it comes to. The plan itself has a screen of its own. */

const PLAN = /^\s*(?:```(?:json)?\s*)?\{[^]*?"tasks"\s*:/;
const ROLE = /"(?:recommendedRole|role)"\s*:\s*"([^"]+)"/g;

/** `Planned 3 tasks: 1 finder, 2 reviewer.`; null where the text is no plan. Of one that streams, what is there so far. */
export function planWords(text: string): string | null {
  if (!PLAN.test(text)) return null;
  const roles = [...text.matchAll(ROLE)].map(([, role = '']) => role);
  if (roles.length === 0) return 'Planning …';
  const counts = [...new Set(roles)].map((role) => `${roles.filter((one) => one === role).length} ${role}`);
  return `Planned ${roles.length} task${roles.length === 1 ? '' : 's'}: ${counts.join(', ')}. (p shows the plan)`;
}
