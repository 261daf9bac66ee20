#!/usr/bin/env python3
# test: builds=release cost=26
"""mutation.py on kernels with queues, flags, barriers and cross-core hand-overs: the detector finds each deleted piece of
synchronisation and names both lines, but for those that mutation_misses.tsv explains. `mutation.py --all` takes all kernels."""
import unittest

import mutation

KERNELS = ("buffer_pools", "cube_flags", "cube_queues", "flags", "function_pointers", "gm_variable", "intrinsics",
           "mix_handshake", "mix_vector", "order_allocated_ids", "order_block_pairs", "order_bound_queue",
           "order_copies", "order_cross_cores", "order_cube_slots", "order_cube_vector", "order_double_buffer",
           "order_raw_flags", "order_rms_norm", "order_scalars", "order_softmax", "order_stages",
           "order_static_tensors", "order_turns", "order_two_phases", "queues", "sorting", "tensor_list",
           "level1/Math/Sqrt", "level2/Activation/SwiGlu", "level2/Norm/RmsNorm")


class Mutation(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        mutants = [m for p in mutation.projects() if p.name in KERNELS for m in p.mutants()]
        cls.count = len(mutants)
        cls.rows = mutation.run(mutants)
        cls.known = mutation.known_misses()

    def test_enough(self):
        self.assertGreaterEqual(self.count, 150)
        names = {mutant.project.name for mutant, _, _ in self.rows}
        self.assertGreaterEqual(len(names), 15)

    def test_detected_or_explained(self):
        self.assertEqual(mutation.unexplained(self.rows, self.known), [])

    def test_misses_are_implied(self):
        missed = [row for row in self.rows if row[1] == "missed"]
        proofs = mutation.check_proofs(missed[::4], self.known)
        self.assertTrue(proofs)
        self.assertEqual([name for name, holds in proofs.items() if not holds], [])

    def test_table_is_of_mutants_that_exist(self):
        names = {(m.project.name, m.name) for p in mutation.projects() for m in p.mutants()}
        self.assertEqual([key for key in self.known if key not in names], [])
        for key, (kind, reason, proof) in self.known.items():
            self.assertIn(kind, mutation.CLASSES, key)
            self.assertTrue(reason and proof, key)


if __name__ == "__main__":
    unittest.main()
