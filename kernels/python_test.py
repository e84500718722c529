"""The operators as Python sees them: opcheck, torch.compile, autograd.  python_test.py LIBTIGON"""

import os
import pathlib
import sys
import unittest

import torch

torch.ops.load_library(str(pathlib.Path(sys.argv.pop(1)).resolve()))
ops = torch.ops.tigon

DTYPES = (torch.float32, torch.bfloat16, torch.float16)
CASTINGS = ("llama", "gemma", "none")


def tensor(*shape, dtype=torch.float32, grad=False, seed=0):
    generator = torch.Generator().manual_seed(seed + sum(shape))
    return torch.randn(*shape, generator=generator).to(dtype).requires_grad_(grad)


def eager_rms_norm(x, weight, eps, offset, casting):
    """The composition of plain operations; in double it is the truth."""
    compute = torch.promote_types(x.dtype, torch.float32)
    wide = x.to(compute)
    rstd = torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)
    if weight is None:
        return (wide * rstd).to(x.dtype)
    if casting == "llama":
        return ((wide * rstd).to(x.dtype) * (offset + weight)).to(x.dtype)
    return (wide * rstd * (offset + weight.to(compute))).to(x.dtype)


def eager_swiglu(a, b):
    return torch.nn.functional.silu(a) * b


def rms_norm_samples():
    """Arguments of tigon::rms_norm."""
    for dtype in DTYPES:
        for grad in (False, True):
            x = tensor(3, 20, dtype=dtype, grad=grad)
            yield x, tensor(20, dtype=dtype, grad=grad, seed=1), 1e-6, 0.0, "llama"
            yield x, None, 1e-5, 0.0, "llama"
    x = tensor(2, 3, 17, dtype=torch.bfloat16, grad=True)
    yield x, tensor(17, grad=True, seed=1), 1e-6, 1.0, "gemma"
    yield x, tensor(17, dtype=torch.bfloat16, seed=1), 1e-6, 0.0, "none"
    yield tensor(8, 5).t().requires_grad_(), tensor(8, seed=1), 1e-6, 0.0, "llama"
    yield tensor(1, 12).expand(4, 12), tensor(12, grad=True, seed=1), 1e-6, 0.0, "llama"
    yield tensor(0, 12, grad=True), tensor(12, grad=True, seed=1), 1e-6, 0.0, "llama"


def swiglu_samples():
    """Arguments of tigon::swiglu."""
    for dtype in DTYPES:
        for grad in (False, True):
            a = tensor(3, 20, dtype=dtype, grad=grad)
            yield a, tensor(3, 20, dtype=dtype, grad=grad, seed=1)
    yield tensor(2, 3, 7, grad=True), tensor(2, 3, 7, seed=1)
    yield tensor(8, 5).t().requires_grad_(), tensor(5, 8, seed=1)
    yield tensor(0, 12, grad=True), tensor(0, 12, grad=True, seed=1)


def gradients(function, *arguments, dy=None):
    """y, and the gradients by those arguments that require one."""
    wanted = [a for a in arguments if isinstance(a, torch.Tensor) and a.requires_grad]
    y = function(*arguments)
    if dy is None:
        dy = tensor(*y.shape, dtype=y.dtype, seed=9)
    return (y, *torch.autograd.grad(y, wanted, dy))


class Opcheck(unittest.TestCase):
    def check(self, op, *arguments):
        torch.library.opcheck(op, arguments)

    def test_rms_norm(self):
        for sample in rms_norm_samples():
            with self.subTest(x=sample[0].shape, dtype=sample[0].dtype, casting=sample[4]):
                self.check(ops.rms_norm.default, *sample)

    def test_defaults(self):
        x, weight = tensor(3, 8, grad=True), tensor(8, grad=True, seed=1)
        self.check(ops.rms_norm.default, x, weight)

    def test_rms_norm_forward_and_backward(self):
        for x, weight, eps, offset, casting in rms_norm_samples():
            # Detached: autograd stops at these two, and says so.
            x, weight = x.detach(), None if weight is None else weight.detach()
            with self.subTest(x=x.shape, dtype=x.dtype, casting=casting):
                self.check(ops.rms_norm_forward.default, x, weight, eps, offset, casting)
                _, rstd = ops.rms_norm_forward(x, weight, eps, offset, casting)
                dy = tensor(*x.shape, dtype=x.dtype, seed=2)
                for mask in ([True, True], [True, False], [False, True]):
                    if weight is None and not mask[0]:
                        continue
                    self.check(ops.rms_norm_backward.default, dy, x, weight, rstd, offset, casting,
                               mask)
                for wants_dweight in (True, False):
                    self.check(ops.rms_norm_backward_.default, dy.clone(), x, weight, rstd, offset,
                               casting, wants_dweight)

    def test_swiglu(self):
        for sample in swiglu_samples():
            with self.subTest(a=sample[0].shape, dtype=sample[0].dtype):
                self.check(ops.swiglu.default, *sample)

    def test_swiglu_forward_and_backward(self):
        for a, b in swiglu_samples():
            a, b = a.detach(), b.detach()
            with self.subTest(a=a.shape, dtype=a.dtype):
                self.check(ops.swiglu_forward.default, a, b)
                dy = tensor(*a.shape, dtype=a.dtype, seed=2)
                for mask in ([True, True], [True, False], [False, True]):
                    self.check(ops.swiglu_backward.default, dy, a, b, mask)
                for wants_db in (True, False):
                    self.check(ops.swiglu_backward_.default, dy.clone(), a, b, wants_db)


class Autograd(unittest.TestCase):
    """Against the composition in double, element by element."""

    def assert_close(self, got, want, dtype):
        # Two roundings of the dtype; the sums of fp32 are longer.
        unit = {torch.float32: 2.0**-19, torch.bfloat16: 2.0**-6, torch.float16: 2.0**-9}[dtype]
        torch.testing.assert_close(got.double(), want, rtol=unit, atol=unit)

    def test_rms_norm(self):
        for dtype in DTYPES:
            for casting in CASTINGS:
                x = tensor(4, 33, dtype=dtype, grad=True)
                weight = tensor(33, dtype=dtype, grad=True, seed=1)
                dy = tensor(4, 33, dtype=dtype, seed=2)
                got = gradients(ops.rms_norm, x, weight, 1e-6, 1.0, casting, dy=dy)
                wide = [t.detach().double().requires_grad_() for t in (x, weight)]
                want = gradients(eager_rms_norm, *wide, 1e-6, 1.0, casting, dy=dy.double())
                for g, w in zip(got, want):
                    self.assertEqual(g.dtype, dtype)
                    self.assert_close(g, w, dtype)

    def test_swiglu(self):
        for dtype in DTYPES:
            a, b = tensor(4, 33, dtype=dtype, grad=True), tensor(4, 33, dtype=dtype, grad=True, seed=1)
            dy = tensor(4, 33, dtype=dtype, seed=2)
            wide = [t.detach().double().requires_grad_() for t in (a, b)]
            want = gradients(eager_swiglu, *wide, dy=dy.double())
            for g, w in zip(gradients(ops.swiglu, a, b, dy=dy), want):
                self.assertEqual(g.dtype, dtype)
                self.assert_close(g, w, dtype)

    def test_second_derivative_is_refused(self):
        x, weight = tensor(3, 8, grad=True), tensor(8, grad=True, seed=1)
        (dx,) = torch.autograd.grad(ops.rms_norm(x, weight).square().sum(), x, create_graph=True)
        with self.assertRaisesRegex(RuntimeError, "rms_norm_backward.*(not implemented|derivative)"):
            dx.sum().backward()
        a, b = tensor(3, 8, grad=True), tensor(3, 8, grad=True, seed=1)
        (da,) = torch.autograd.grad(ops.swiglu(a, b).square().sum(), a, create_graph=True)
        with self.assertRaisesRegex(RuntimeError, "swiglu_backward.*(not implemented|derivative)"):
            da.sum().backward()

    def test_forward_mode_is_refused(self):
        x, weight = tensor(3, 8), tensor(8, seed=1)
        with self.assertRaisesRegex(NotImplementedError, "rms_norm: forward-mode"):
            torch.func.jvp(lambda t: ops.rms_norm(t, weight), (x,), (x,))
        with self.assertRaisesRegex(NotImplementedError, "swiglu: forward-mode"):
            torch.func.jvp(lambda t: ops.swiglu(t, x), (x,), (x,))

    def test_errors_name_the_argument(self):
        x = tensor(3, 8)
        with self.assertRaisesRegex(RuntimeError, r"rms_norm: weight has shape \[7\], expected \[8\]"):
            ops.rms_norm(x, tensor(7))
        with self.assertRaisesRegex(ValueError, 'rms_norm: casting is "lama"'):
            ops.rms_norm(x, None, 1e-6, 0.0, "lama")
        with self.assertRaisesRegex(RuntimeError, r"swiglu: b has shape \[3, 9\], expected \[3, 8\]"):
            ops.swiglu(x, tensor(3, 9))

    def test_autocast(self):
        weight = tensor(8, grad=True, seed=1)  # fp32, as in mixed-precision training
        x = tensor(3, 8, dtype=torch.bfloat16, grad=True)
        with torch.autocast("cpu", torch.bfloat16):
            y = ops.rms_norm(x, weight)
            z = ops.swiglu(y, tensor(3, 8, seed=2))
        self.assertEqual(y.dtype, torch.bfloat16)
        self.assertEqual(z.dtype, torch.float32)
        z.sum().backward()
        self.assertEqual((x.grad.dtype, weight.grad.dtype), (torch.bfloat16, torch.float32))

    def test_checkpoint(self):
        x, weight = tensor(3, 8, grad=True), tensor(8, grad=True, seed=1)
        plain = gradients(ops.rms_norm, x, weight)
        again = gradients(
            lambda *a: torch.utils.checkpoint.checkpoint(ops.rms_norm, *a, use_reentrant=False), x, weight)
        for p, a in zip(plain, again):
            self.assertTrue(torch.equal(p, a))

    def test_vmap_free_batching(self):
        """Any number of leading dimensions is one batch."""
        x, weight = tensor(2, 3, 5, 8), tensor(8, seed=1)
        self.assertTrue(torch.equal(ops.rms_norm(x, weight).view(30, 8),
                                    ops.rms_norm(x.view(30, 8), weight)))


class Compile(unittest.TestCase):
    """torch.compile(fullgraph=True), forward and backward."""

    def setUp(self):
        torch._dynamo.reset()

    def compare(self, function, backend, *arguments, **compile_options):
        compiled = torch.compile(function, fullgraph=True, backend=backend, **compile_options)
        for got, want in zip(gradients(compiled, *arguments), gradients(function, *arguments)):
            torch.testing.assert_close(got, want, rtol=0, atol=0)

    @staticmethod
    def block(x, weight, b):
        """Both operators, with other work before and behind."""
        return ops.swiglu(ops.rms_norm(x * 2, weight, 1e-6, 0.0, "llama"), b) + 1

    def arguments(self, dtype, rows=4):
        return (tensor(rows, 16, dtype=dtype, grad=True), tensor(16, dtype=dtype, grad=True, seed=1),
                tensor(rows, 16, dtype=dtype, grad=True, seed=2))

    def test_rms_norm(self):
        for sample in rms_norm_samples():
            if any(isinstance(a, torch.Tensor) and a.requires_grad for a in sample):
                torch._dynamo.reset()
                with self.subTest(x=sample[0].shape, dtype=sample[0].dtype, casting=sample[4]):
                    self.compare(ops.rms_norm, "aot_eager", *sample)

    def test_swiglu(self):
        for sample in swiglu_samples():
            if any(a.requires_grad for a in sample):
                torch._dynamo.reset()
                with self.subTest(a=sample[0].shape, dtype=sample[0].dtype):
                    self.compare(ops.swiglu, "aot_eager", *sample)

    def test_block(self):
        for dtype in DTYPES:
            self.compare(self.block, "aot_eager", *self.arguments(dtype))

    def test_inductor(self):
        compiled = torch.compile(self.block, fullgraph=True)
        arguments = self.arguments(torch.float32)
        for got, want in zip(gradients(compiled, *arguments), gradients(self.block, *arguments)):
            torch.testing.assert_close(got, want, rtol=1e-6, atol=1e-6)  # it reorders the sums

    def test_inference(self):
        compiled = torch.compile(self.block, fullgraph=True, backend="aot_eager")
        arguments = [a.detach() for a in self.arguments(torch.bfloat16)]
        with torch.no_grad():
            self.assertTrue(torch.equal(compiled(*arguments), self.block(*arguments)))
        with torch.inference_mode():
            self.assertTrue(torch.equal(compiled(*arguments), self.block(*arguments)))

    def test_dynamic_rows(self):
        counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
        compiled = torch.compile(self.block, fullgraph=True, backend=counter)
        for rows in (4, 7, 12):
            x, weight, b = self.arguments(torch.float32, rows)
            torch._dynamo.mark_dynamic(x, 0)
            torch._dynamo.mark_dynamic(b, 0)
            for got, want in zip(gradients(compiled, x, weight, b), gradients(self.block, x, weight, b)):
                torch.testing.assert_close(got, want, rtol=0, atol=0)
        self.assertEqual(counter.frame_count, 1)

    def test_dynamic_width(self):
        counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
        compiled = torch.compile(lambda a, b: ops.rms_norm(ops.swiglu(a, b), None), fullgraph=True,
                                 backend=counter)
        for width in (8, 11, 24):
            a, b = tensor(4, width), tensor(4, width, seed=1)
            torch._dynamo.mark_dynamic(a, 1)
            torch._dynamo.mark_dynamic(b, 1)
            self.assertTrue(torch.equal(compiled(a, b), ops.rms_norm(ops.swiglu(a, b), None)))
        self.assertEqual(counter.frame_count, 1)

    def test_upstream_gradient_survives(self):
        """A compiled backward owns no buffer of the caller's."""
        x, weight, b = self.arguments(torch.float32)
        compiled = torch.compile(self.block, fullgraph=True, backend="aot_eager")
        dy = tensor(4, 16, seed=5)
        before = dy.clone()
        gradients(compiled, x, weight, b, dy=dy)
        self.assertTrue(torch.equal(dy, before))


if __name__ == "__main__":
    # Inductor's cache is the test's own.
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR",
                          os.path.join(os.environ.get("TEST_TMPDIR", "/tmp"), "inductor"))
    unittest.main()
