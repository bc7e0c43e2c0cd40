"""What transformers gives for sentences: each token, and of the logits after it every seven-thousandth."""

from pathlib import Path

import torch

from mha_course.models import weights
from tests.entries import alike
from tools.notebook import ROOT

FILE = ROOT / "tests" / "core" / "judged.txt"
SENTENCES = (
    "The capital of France is",
    "When Mary and John went to the store, John gave a drink to",
    "Once upon a time there was a little cat who",
    "2 + 2 = 4, and 12 + 30 = 42.",
    "  two spaces first\nand a new line\n\n",
    "Grüße aus Köln, 猫吃鱼 🐟",
    "def attention(q, k, v):\n    return softmax(q @ k.T) @ v",
    "HELLO hello Hello hElLo",
    "It's the cat's fish, isn't it? They've eaten; we'll see.",
    "a",
    "<|im_start|>user\nWho eats?<|im_end|>\n<|im_start|>assistant\n",
)


def judge_of(path):
    """Return a function that asks transformers, out of the same file, for the tokens and logits of a sentence."""
    import transformers

    names = {"pretrained_model_name_or_path": str(path.parent), "gguf_file": path.name}
    model = transformers.AutoModelForCausalLM.from_pretrained(**names, dtype=torch.float32).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(**names)

    @torch.no_grad()
    def judge(sentence):
        ids = torch.tensor(tokenizer(sentence)["input_ids"])
        return ids, model(ids[None]).logits[0]

    return judge


def carried():
    return Path(weights.find_spec(weights.PACKAGE).origin).with_name(weights.FILE)


def in_words(ids, logits):
    rows = logits[:, ::7000].tolist()
    pairs = zip(ids.tolist(), rows, strict=True)
    return "\n".join(" ".join([f"{token}:", *(f"{x:.3f}" for x in row)]) for token, row in pairs)


def files():
    return [FILE]


def today(file):
    judge = judge_of(carried())
    return {repr(sentence): in_words(*judge(sentence)) for sentence in SENTENCES}


def difference(name, before, now):
    return "" if alike(before, now, abs_tol=1.5e-3) else f"transformers gave\n{before}\nand now\n{now}"
