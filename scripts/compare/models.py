"""Models with random weights for torch.export: each entry of `MODELS` makes one, with inputs of two shapes."""

import copy
import math
from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional


class Example(NamedTuple):
    """A model and its inputs.

    `inputs` is a tuple of arguments or a dict of keyword arguments. `others` are inputs of other shapes, the most general first. A dimension
    that differs from `inputs` is exported as a dynamic one.
    """

    module: nn.Module
    inputs: tuple | dict
    others: list


MODELS = {}


def model(make):
    """Adds a function that returns an Example."""
    MODELS[make.__name__] = make
    return make


def fan_in(parameter):
    return max(math.prod(parameter.shape[1:]), 1)


def randomise(module, inputs=None):
    """Replaces constant parameters and buffers by random ones, so that an error in one of them shows in the output.

    With inputs, the statistics of batch norm are the ones of these inputs, with noise. Activations then stay near 1 in deep models.
    """
    for parameter in module.parameters():
        if parameter.is_floating_point():
            if parameter.dim() < 2 or parameter.numel() < 2 or parameter.std() < 1e-5:
                parameter.data += 0.1 * torch.randn_like(parameter)
    norms = [m for m in module.modules() if isinstance(m, nn.modules.batchnorm._BatchNorm) and m.running_var is not None]
    if norms and inputs is not None:
        momenta = [m.momentum for m in norms]
        module.eval()
        for m in norms:
            # Weights below 1 keep differences between the inputs from growing over many layers.
            m.weight.data *= 0.7
            m.momentum = 1
            m.train()
        with torch.no_grad():
            call(module, inputs)
        for m, momentum in zip(norms, momenta):
            m.momentum = momentum
    noise = 0.5 / max(len(norms), 10) ** 0.5
    for m in norms:
        m.running_mean += noise * m.running_var.sqrt() * torch.randn_like(m.running_mean)
        m.running_var *= 1 + noise * (2 * torch.rand_like(m.running_var) - 1)
    return module


def widen(module):
    """Gives matrices and kernels a variance of 1 / fan-in. The models of transformers start with smaller weights, which hide errors."""
    for parameter in module.parameters():
        if parameter.dim() >= 2 and parameter.is_floating_point():
            nn.init.normal_(parameter, std=fan_in(parameter) ** -0.5)
    return module


def call(module, inputs):
    return module(**inputs) if isinstance(inputs, dict) else module(*inputs)


# Images


def scenes(batch, channels, height, width):
    """Images that differ in colour, in large shapes and in noise. The features of pure noise are nearly the same for all images."""
    shapes = functional.interpolate(torch.randn(batch, channels, 4, 4), size=(height, width), mode="bilinear", align_corners=False)
    return 0.5 * torch.randn(batch, channels, 1, 1) + shapes + 0.5 * torch.randn(batch, channels, height, width)


def image(module, size=64, channels=3, batch=2, free=False):
    """An Example with one image as input. `free` lets the height and the width vary as well as the batch."""
    calibration = scenes(32, channels, size, size)
    randomise(module, (calibration,))
    inputs = (scenes(batch, channels, size, size),)
    others = [(scenes(batch + 1, channels, size, size),)]
    if free:
        others.insert(0, (scenes(batch + 1, channels, size + 32, size - 16 if size > 64 else size),))
        others.insert(0, (scenes(batch + 1, channels, size + 32, size + 64),))
    return Example(module.eval(), inputs, others)


def vision(name, size=64, free=False, shrink=None, **options):
    """Adds a classifier of torchvision."""

    def make():
        import torchvision

        module = getattr(torchvision.models, name)(weights=None, num_classes=10, **options)
        return image(shrink(module) if shrink else module, size, free=free)

    MODELS["tv_" + name] = make


def blocks(*counts):
    """Shortens the stages of a ResNet."""

    def shrink(module):
        for k, count in enumerate(counts, 1):
            name = f"layer{k}"
            setattr(module, name, getattr(module, name)[:count])
        return module

    return shrink


def small_head(features):
    """Replaces the classifier of AlexNet or VGG by a small one."""

    def shrink(module):
        module.classifier = nn.Sequential(nn.Linear(features, 64), nn.ReLU(True), nn.Dropout(), nn.Linear(64, 10))
        return module

    return shrink


vision("resnet18", free=True)
vision("resnet50", free=True, shrink=blocks(2, 2, 2, 1))
vision("resnext50_32x4d", shrink=blocks(2, 2, 2, 1))
vision("wide_resnet50_2", shrink=blocks(1, 1, 1, 1))
vision("vgg11_bn", shrink=small_head(25088))
vision("vgg11", shrink=small_head(25088))
vision("alexnet", 96, shrink=small_head(9216))
vision("densenet121")
vision("mobilenet_v2", free=True)
vision("mobilenet_v3_small", free=True)
vision("mobilenet_v3_large")
vision("efficientnet_b0")
vision("efficientnet_v2_s", 96)
vision("convnext_tiny")
vision("shufflenet_v2_x0_5", free=True)
vision("mnasnet0_5")
vision("regnet_x_400mf")
vision("regnet_y_400mf")
vision("squeezenet1_1")
vision("googlenet", 96, init_weights=False)
vision("inception_v3", 96, init_weights=False)


@model
def tv_vit_b_16():
    from torchvision.models.vision_transformer import VisionTransformer

    return image(widen(VisionTransformer(image_size=64, patch_size=16, num_layers=3, num_heads=4, hidden_dim=64, mlp_dim=128, num_classes=10)))


@model
def tv_swin_t():
    from torchvision.models.swin_transformer import SwinTransformer

    sizes = {"embed_dim": 24, "depths": [2, 2], "num_heads": [2, 4], "window_size": [7, 7], "num_classes": 10}
    return image(SwinTransformer(patch_size=[4, 4], **sizes), 96, free=True)


@model
def tv_swin_v2_t():
    from torchvision.models.swin_transformer import PatchMergingV2, SwinTransformer, SwinTransformerBlockV2

    sizes = {"embed_dim": 24, "depths": [2, 2], "num_heads": [2, 4], "window_size": [8, 8], "num_classes": 10}
    return image(SwinTransformer(patch_size=[4, 4], block=SwinTransformerBlockV2, downsample_layer=PatchMergingV2, **sizes), 96, free=True)


@model
def tv_maxvit_t():
    from torchvision.models.maxvit import MaxVit

    sizes = {"stem_channels": 16, "block_channels": [16, 32], "block_layers": [1, 2], "head_dim": 8, "partition_size": 4}
    return image(widen(MaxVit(input_size=(64, 64), stochastic_depth_prob=0.2, num_classes=10, **sizes)))


def segmentation(name, size=64, **options):
    """Adds a model of torchvision for segmentation."""

    def make():
        from torchvision.models import segmentation as models

        module = getattr(models, name)(weights=None, weights_backbone=None, num_classes=5, **options)
        if "resnet" in name:
            backbone = module.backbone
            for k in range(1, 5):
                backbone[f"layer{k}"] = backbone[f"layer{k}"][:1]
        return image(module, size, free=True)

    MODELS["tv_" + name] = make


segmentation("fcn_resnet50")
segmentation("deeplabv3_resnet50")
segmentation("deeplabv3_mobilenet_v3_large")
segmentation("lraspp_mobilenet_v3_large")


def pyramid(module):
    """An Example of a backbone with a feature pyramid. PyTorch takes the sizes of the first inputs as the largest ones."""
    example = image(module, 128)
    return example._replace(others=[(scenes(3, 3, 96, 96),), *example.others])


@model
def tv_resnet_fpn():
    from torchvision.models import resnet18
    from torchvision.models.detection.backbone_utils import _resnet_fpn_extractor

    return pyramid(_resnet_fpn_extractor(resnet18(weights=None), 5))


@model
def tv_mobilenet_fpn():
    from torchvision.models.detection.backbone_utils import mobilenet_backbone

    return pyramid(mobilenet_backbone(backbone_name="mobilenet_v3_large", weights=None, fpn=True, trainable_layers=6))


@model
def tv_retinanet_heads():
    """The backbone and the heads of RetinaNet, without its postprocessing."""
    import torchvision
    from torchvision.models.detection.backbone_utils import mobilenet_backbone
    from torchvision.models.detection.retinanet import RetinaNetHead

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.backbone = mobilenet_backbone(backbone_name="mobilenet_v3_large", weights=None, fpn=True, trainable_layers=6)
            self.head = RetinaNetHead(self.backbone.out_channels, 3, 4)

        def forward(self, x):
            return self.head(list(self.backbone(x).values()))

    return image(Net(), 64)


@model
def tv_ssdlite():
    """The whole detector, with its choice of boxes."""
    from torchvision.models.detection import ssdlite320_mobilenet_v3_large

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=5)

        def forward(self, x):
            return self.net([x])

    return Example(randomise(Net()).eval(), (torch.rand(3, 96, 96),), [])


@model
def tv_r3d_18():
    from torchvision.models.video import r3d_18

    module = r3d_18(weights=None, num_classes=10)
    module.layer4, module.fc = nn.Identity(), nn.Linear(256, 10)
    randomise(module, (torch.randn(2, 3, 4, 32, 32),))
    return Example(module.eval(), (torch.randn(2, 3, 6, 32, 32),), [(torch.randn(3, 3, 9, 32, 32),), (torch.randn(3, 3, 6, 32, 32),)])


@model
def tv_raft_small():
    from torchvision.models.optical_flow import raft_small

    module = randomise(raft_small(weights=None), (torch.randn(2, 3, 128, 128), torch.randn(2, 3, 128, 128))).eval()

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = module

        def forward(self, a, b):
            return self.net(a, b, num_flow_updates=2)

    pair = lambda batch: (torch.randn(batch, 3, 128, 128), torch.randn(batch, 3, 128, 128))
    return Example(Net(), pair(1), [])


# Text and other models of transformers

VOCABULARY = 99
SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48, "vocab_size": VOCABULARY}
SMALL_LLAMA = {**SMALL, "num_key_value_heads": 2, "max_position_embeddings": 64, "head_dim": 8, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}


def tokens(batch, length):
    return torch.randint(3, VOCABULARY, (batch, length))


def mask(batch, length, left=False):
    """An attention mask whose rows have different lengths."""
    lengths = length - torch.arange(batch) % min(3, length)
    places = torch.arange(length)
    ones = places[None] < lengths[:, None]
    return (ones.flip(1) if left else ones).long()


def tiny(name, config, others=(), **fields):
    """A model of transformers by the names of its class and of its configuration."""
    import transformers

    attention = fields.pop("attention", None)
    made = getattr(transformers, config)(**fields)
    if attention:
        made._attn_implementation = attention
    return randomise(widen(getattr(transformers, name)(made))).eval()


def text(entry, name, config, extra=(), options=None, first=(2, 9), others=((3, 6), (3, 9)), left=False, **fields):
    """Adds a model whose inputs are tokens and their mask. `extra` names further inputs that are zero or one for each token."""

    def make():
        module = tiny(name, config, **fields)

        def inputs(batch, length):
            made = {"input_ids": tokens(batch, length), "attention_mask": mask(batch, length, left)}
            made.update({key: (torch.arange(length) * 2 // length).repeat(batch, 1) for key in extra})
            return made

        return Example(Fixed(module, **(options or {})), inputs(*first), [inputs(*other) for other in others])

    MODELS[entry] = make


class Fixed(nn.Module):
    """A model with some keyword arguments set, whose result is a tuple of tensors."""

    def __init__(self, module, **options):
        super().__init__()
        self.module, self.options = module, options

    def forward(
        self, input_ids=None, attention_mask=None, token_type_ids=None, decoder_input_ids=None, pixel_values=None, input_features=None,
        input_values=None, past_values=None,
    ):
        given = {name: value for name, value in locals().items() if isinstance(value, torch.Tensor)}
        result = self.module(**given, **self.options, return_dict=True)
        return tuple(value for value in result.values() if isinstance(value, torch.Tensor))


TYPES = ["token_type_ids"]
NO_CACHE = {"use_cache": False}
text("bert", "BertModel", "BertConfig", TYPES, **SMALL, max_position_embeddings=64)
text("bert_eager", "BertModel", "BertConfig", TYPES, attention="eager", **SMALL, max_position_embeddings=64)
text("bert_classifier", "BertForSequenceClassification", "BertConfig", TYPES, **SMALL, max_position_embeddings=64)
text("bert_mlm", "BertForMaskedLM", "BertConfig", TYPES, **SMALL, max_position_embeddings=64)
text("distilbert", "DistilBertModel", "DistilBertConfig", vocab_size=VOCABULARY, dim=32, n_layers=2, n_heads=4, hidden_dim=48, max_position_embeddings=64)
text("roberta", "RobertaModel", "RobertaConfig", **SMALL, max_position_embeddings=64)
text("xlm_roberta", "XLMRobertaForTokenClassification", "XLMRobertaConfig", **SMALL, max_position_embeddings=64)
text("albert", "AlbertModel", "AlbertConfig", TYPES, **SMALL, embedding_size=16, max_position_embeddings=64)
text("electra", "ElectraModel", "ElectraConfig", TYPES, **SMALL, embedding_size=16, max_position_embeddings=64)
text("mpnet", "MPNetModel", "MPNetConfig", **SMALL, max_position_embeddings=64)
text("deberta_v2", "DebertaV2Model", "DebertaV2Config", TYPES, **SMALL, relative_attention=True, position_buckets=8, pos_att_type=["p2c", "c2p"], max_position_embeddings=64)
text("modernbert", "ModernBertModel", "ModernBertConfig", **SMALL, max_position_embeddings=64, pad_token_id=0, bos_token_id=1, eos_token_id=2, cls_token_id=1, sep_token_id=2, local_attention=4)
text("esm", "EsmModel", "EsmConfig", **SMALL, max_position_embeddings=64, pad_token_id=1, mask_token_id=2, position_embedding_type="rotary")
text("gpt2", "GPT2LMHeadModel", "GPT2Config", options=NO_CACHE, vocab_size=VOCABULARY, n_positions=64, n_embd=32, n_layer=2, n_head=4, bos_token_id=1, eos_token_id=2)
text("gpt2_eager", "GPT2LMHeadModel", "GPT2Config", options=NO_CACHE, attention="eager", vocab_size=VOCABULARY, n_positions=64, n_embd=32, n_layer=2, n_head=4, bos_token_id=1, eos_token_id=2)
text("gpt_neo", "GPTNeoForCausalLM", "GPTNeoConfig", options=NO_CACHE, vocab_size=VOCABULARY, hidden_size=32, num_layers=2, num_heads=4, attention_types=[[["global", "local"], 1]], window_size=4, max_position_embeddings=64, bos_token_id=1, eos_token_id=2)
text("gpt_neox", "GPTNeoXForCausalLM", "GPTNeoXConfig", options=NO_CACHE, **SMALL, max_position_embeddings=64)
text("gptj", "GPTJForCausalLM", "GPTJConfig", options=NO_CACHE, vocab_size=VOCABULARY, n_positions=64, n_embd=32, n_layer=2, n_head=4, rotary_dim=4, bos_token_id=1, eos_token_id=2)
text("opt", "OPTForCausalLM", "OPTConfig", options=NO_CACHE, vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, ffn_dim=48, num_attention_heads=4, max_position_embeddings=64, word_embed_proj_dim=32)
text("bloom", "BloomForCausalLM", "BloomConfig", options=NO_CACHE, vocab_size=VOCABULARY, hidden_size=32, n_layer=2, n_head=4)
text("falcon", "FalconForCausalLM", "FalconConfig", options=NO_CACHE, vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=64)
text("llama", "LlamaForCausalLM", "LlamaConfig", options=NO_CACHE, left=True, **SMALL_LLAMA)
text("llama_eager", "LlamaForCausalLM", "LlamaConfig", options=NO_CACHE, attention="eager", **SMALL_LLAMA)
text("mistral", "MistralForCausalLM", "MistralConfig", options=NO_CACHE, **SMALL_LLAMA, sliding_window=4)
text("mixtral", "MixtralForCausalLM", "MixtralConfig", options=NO_CACHE, **SMALL_LLAMA, num_local_experts=4)
text("qwen2", "Qwen2ForCausalLM", "Qwen2Config", options=NO_CACHE, **SMALL_LLAMA)
text("qwen3", "Qwen3ForCausalLM", "Qwen3Config", options=NO_CACHE, **SMALL_LLAMA)
text("qwen2_moe", "Qwen2MoeForCausalLM", "Qwen2MoeConfig", options=NO_CACHE, **SMALL_LLAMA, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=16, shared_expert_intermediate_size=32)
text("gemma", "GemmaForCausalLM", "GemmaConfig", options=NO_CACHE, **SMALL_LLAMA)
text("gemma2", "Gemma2ForCausalLM", "Gemma2Config", options=NO_CACHE, **SMALL_LLAMA, sliding_window=4)
text("gemma3", "Gemma3ForCausalLM", "Gemma3TextConfig", options=NO_CACHE, **SMALL_LLAMA, sliding_window=4, layer_types=["sliding_attention", "full_attention"])
text("phi", "PhiForCausalLM", "PhiConfig", options=NO_CACHE, **{**SMALL_LLAMA, "num_key_value_heads": 4})
text("phi3", "Phi3ForCausalLM", "Phi3Config", options=NO_CACHE, **SMALL_LLAMA)
text("olmo2", "Olmo2ForCausalLM", "Olmo2Config", options=NO_CACHE, **SMALL_LLAMA)
text("granite", "GraniteForCausalLM", "GraniteConfig", options=NO_CACHE, **SMALL_LLAMA)
text("smollm3", "SmolLM3ForCausalLM", "SmolLM3Config", options=NO_CACHE, **SMALL_LLAMA)
text("cohere", "CohereForCausalLM", "CohereConfig", options=NO_CACHE, **SMALL_LLAMA)
text("stablelm", "StableLmForCausalLM", "StableLmConfig", options=NO_CACHE, **SMALL_LLAMA)
text("starcoder2", "Starcoder2ForCausalLM", "Starcoder2Config", options=NO_CACHE, **SMALL_LLAMA)
text("mamba", "MambaForCausalLM", "MambaConfig", options=NO_CACHE, vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, state_size=4)
text("t5_encoder", "T5EncoderModel", "T5Config", vocab_size=VOCABULARY, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4)
text("xlnet", "XLNetModel", "XLNetConfig", vocab_size=VOCABULARY, d_model=32, n_layer=2, n_head=4, d_inner=48)


def seq2seq(entry, name, config, **fields):
    """Adds a model of transformers with an encoder and a decoder for text."""

    def make():
        module = tiny(name, config, **fields)

        def inputs(batch, source, target):
            return {"input_ids": tokens(batch, source), "attention_mask": mask(batch, source), "decoder_input_ids": tokens(batch, target)}

        return Example(Fixed(module, use_cache=False), inputs(2, 9, 5), [inputs(3, 7, 4), inputs(3, 9, 5)])

    MODELS[entry] = make


BART = {
    "vocab_size": VOCABULARY, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}
T5 = {"vocab_size": VOCABULARY, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4, "decoder_start_token_id": 0}
seq2seq("t5", "T5ForConditionalGeneration", "T5Config", **T5)
seq2seq("flan_t5", "T5ForConditionalGeneration", "T5Config", **T5, feed_forward_proj="gated-gelu", tie_word_embeddings=False)
seq2seq("bart", "BartForConditionalGeneration", "BartConfig", **BART)
seq2seq("marian", "MarianMTModel", "MarianConfig", **BART, decoder_start_token_id=0)
seq2seq("pegasus", "PegasusForConditionalGeneration", "PegasusConfig", **BART)
seq2seq("m2m_100", "M2M100ForConditionalGeneration", "M2M100Config", **BART)


class Cached(nn.Module):
    """One step of a decoder. The keys and values of each layer are inputs, and the longer ones are outputs."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, input_ids, attention_mask, keys, values):
        from transformers import DynamicCache

        cache = DynamicCache(config=self.module.config)
        for k, pair in enumerate(zip(keys, values)):
            cache.update(*pair, k)
        result = self.module(input_ids=input_ids, attention_mask=attention_mask, past_key_values=cache, use_cache=True)
        layers = result.past_key_values.layers
        return result.logits, [layer.keys for layer in layers], [layer.values for layer in layers]


def cached(entry, name, config, heads, layers=2, width=8, **fields):
    """Adds a decoder with a cache of keys and values."""

    def make():
        def inputs(batch, new, past):
            states = lambda: [torch.randn(batch, heads, past, width) for _ in range(layers)]
            return {"input_ids": tokens(batch, new), "attention_mask": mask(batch, past + new, left=True), "keys": states(), "values": states()}

        return Example(Cached(tiny(name, config, **fields)), inputs(2, 3, 6), [inputs(3, 2, 9), inputs(2, 3, 8), inputs(3, 3, 6)])

    MODELS[entry] = make


cached("gpt2_cache", "GPT2LMHeadModel", "GPT2Config", 4, vocab_size=VOCABULARY, n_positions=64, n_embd=32, n_layer=2, n_head=4, bos_token_id=1, eos_token_id=2)
cached("gpt2_cache_eager", "GPT2LMHeadModel", "GPT2Config", 4, attention="eager", vocab_size=VOCABULARY, n_positions=64, n_embd=32, n_layer=2, n_head=4, bos_token_id=1, eos_token_id=2)
cached("llama_cache", "LlamaForCausalLM", "LlamaConfig", 2, **SMALL_LLAMA)
cached("qwen3_cache", "Qwen3ForCausalLM", "Qwen3Config", 2, **SMALL_LLAMA)


def pictures(entry, name, config, size=32, options=None, free=False, widened=True, **fields):
    """Adds a model of transformers for images."""

    def make():
        import transformers

        module = getattr(transformers, name)(getattr(transformers, config)(**fields))
        if widened:
            widen(module)
        inputs = lambda batch, height, width: {"pixel_values": scenes(batch, 3, height, width)}
        randomise(module, inputs(32, size, size)).eval()
        others = [inputs(3, size + 32, size + 64), inputs(3, size, size)][not free :]
        return Example(Fixed(module, **(options or {})), inputs(2, size, size), others)

    MODELS[entry] = make


VIT = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48, "image_size": 32, "patch_size": 8}
pictures("vit", "ViTForImageClassification", "ViTConfig", **VIT)
pictures("deit", "DeiTModel", "DeiTConfig", **VIT)
pictures("beit", "BeitModel", "BeitConfig", **VIT, use_relative_position_bias=True, layer_scale_init_value=0.5)
pictures("dinov2", "Dinov2Model", "Dinov2Config", free=True, **VIT)
pictures("clip_vision", "CLIPVisionModel", "CLIPVisionConfig", **VIT)
pictures("siglip_vision", "SiglipVisionModel", "SiglipVisionConfig", **VIT)
pictures("swin", "SwinModel", "SwinConfig", 64, image_size=64, patch_size=4, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4)
pictures("swinv2", "Swinv2Model", "Swinv2Config", 64, image_size=64, patch_size=4, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4)
pictures("convnext", "ConvNextForImageClassification", "ConvNextConfig", 64, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 2, 1], free=True)
pictures("convnextv2", "ConvNextV2ForImageClassification", "ConvNextV2Config", 64, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 2, 1])
pictures("resnet", "ResNetForImageClassification", "ResNetConfig", 64, embedding_size=8, hidden_sizes=[16, 24, 32, 40], depths=[1, 1, 2, 1], free=True)
pictures("regnet", "RegNetForImageClassification", "RegNetConfig", 64, embedding_size=8, hidden_sizes=[16, 24, 32, 40], depths=[1, 1, 2, 1], groups_width=8)
pictures("mobilenet_v1", "MobileNetV1ForImageClassification", "MobileNetV1Config", 64, depth_multiplier=0.25)
pictures("mobilenet_v2", "MobileNetV2ForImageClassification", "MobileNetV2Config", 64, depth_multiplier=0.35, free=True)
pictures("mobilevit", "MobileViTForImageClassification", "MobileViTConfig", 64, image_size=64, hidden_sizes=[32, 40, 48], neck_hidden_sizes=[8, 16, 24, 32, 40, 48, 64], num_attention_heads=4)
pictures("efficientnet", "EfficientNetForImageClassification", "EfficientNetConfig", 64, width_coefficient=0.35, depth_coefficient=0.5, hidden_dim=448)
pictures("levit", "LevitForImageClassification", "LevitConfig", 64, image_size=64, hidden_sizes=[32, 48, 64], num_attention_heads=[2, 3, 4], depths=[1, 1, 1], key_dim=[8, 8, 8])
pictures("poolformer", "PoolFormerForImageClassification", "PoolFormerConfig", 64, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], layer_scale_init_value=0.5)
pictures("segformer", "SegformerForSemanticSegmentation", "SegformerConfig", 64, hidden_sizes=[8, 16, 24, 32], num_attention_heads=[1, 2, 2, 4], depths=[1, 1, 1, 1], decoder_hidden_size=16, free=True)
pictures("pvt", "PvtForImageClassification", "PvtConfig", 64, image_size=64, hidden_sizes=[8, 16, 24, 32], num_attention_heads=[1, 2, 2, 4], depths=[1, 1, 1, 1])
pictures("yolos", "YolosForObjectDetection", "YolosConfig", **{**VIT, "image_size": [32, 32]}, num_detection_tokens=5)
pictures("dpt", "DPTForDepthEstimation", "DPTConfig", **{**VIT, "num_hidden_layers": 4}, backbone_out_indices=[0, 1, 2, 3], neck_hidden_sizes=[8, 12, 16, 20], fusion_hidden_size=16, is_hybrid=False)
pictures("glpn", "GLPNForDepthEstimation", "GLPNConfig", 64, hidden_sizes=[8, 16, 24, 32], num_attention_heads=[1, 2, 2, 4], depths=[1, 1, 1, 1], decoder_hidden_size=16)
pictures("swin2sr", "Swin2SRForImageSuperResolution", "Swin2SRConfig", image_size=32, patch_size=1, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=8)
pictures("hiera", "HieraForImageClassification", "HieraConfig", 64, image_size=[64, 64], embed_dim=16, depths=[1, 1, 1, 1], num_heads=[1, 2, 2, 4])


@model
def detr():
    from transformers import DetrConfig, DetrForObjectDetection, ResNetConfig

    backbone = ResNetConfig(embedding_size=8, hidden_sizes=[16, 24, 32, 40], depths=[1, 1, 1, 1], out_features=["stage4"])
    config = DetrConfig(
        use_timm_backbone=False, use_pretrained_backbone=False, backbone=None, backbone_config=backbone, d_model=32, encoder_layers=1, decoder_layers=2,
        encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, num_queries=6,
    )
    module = randomise(widen(DetrForObjectDetection(config))).eval()
    return Example(Fixed(module), {"pixel_values": torch.randn(2, 3, 64, 64)}, [{"pixel_values": torch.randn(3, 3, 64, 64)}])


@model
def clip():
    from transformers import CLIPConfig

    import transformers

    words = {**SMALL, "max_position_embeddings": 16, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
    module = transformers.CLIPModel(CLIPConfig(text_config=words, vision_config=VIT, projection_dim=16))
    randomise(widen(module)).eval()

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = module

        def forward(self, input_ids, attention_mask, pixel_values):
            result = self.net(input_ids=input_ids, attention_mask=attention_mask, pixel_values=pixel_values)
            return result.logits_per_image, result.text_embeds, result.image_embeds

    def inputs(words, length, images):
        return {"input_ids": tokens(words, length), "attention_mask": mask(words, length), "pixel_values": torch.randn(images, 3, 32, 32)}

    return Example(Net(), inputs(3, 8, 2), [inputs(4, 6, 3), inputs(4, 8, 3)])


WHISPER = {
    "vocab_size": VOCABULARY, "num_mel_bins": 16, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "max_source_positions": 30, "max_target_positions": 24,
    "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1,
}


@model
def whisper():
    module = tiny("WhisperForConditionalGeneration", "WhisperConfig", **WHISPER)
    inputs = lambda batch, length: {"input_features": torch.randn(batch, 16, 60), "decoder_input_ids": tokens(batch, length)}
    return Example(Fixed(module, use_cache=False), inputs(2, 7), [inputs(3, 5), inputs(3, 7)])


@model
def whisper_encoder():
    module = tiny("WhisperForConditionalGeneration", "WhisperConfig", **WHISPER).model.encoder
    inputs = lambda batch: {"input_features": torch.randn(batch, 16, 60)}
    return Example(Fixed(module), inputs(2), [inputs(3)])


def sound(entry, name, config, **fields):
    """Adds a model of transformers for waveforms."""

    def make():
        module = tiny(name, config, **fields)
        inputs = lambda batch, length: {"input_values": torch.randn(batch, length)}
        return Example(Fixed(module), inputs(2, 800), [inputs(3, 1000), inputs(3, 800)])

    MODELS[entry] = make


WAVE = {**SMALL, "conv_dim": (8, 8, 8), "conv_stride": (5, 2, 2), "conv_kernel": (10, 3, 2), "num_conv_pos_embeddings": 8, "num_conv_pos_embedding_groups": 2, "num_feat_extract_layers": 3}
sound("wav2vec2", "Wav2Vec2Model", "Wav2Vec2Config", **WAVE)
sound("wav2vec2_ctc", "Wav2Vec2ForCTC", "Wav2Vec2Config", **WAVE, do_stable_layer_norm=True, feat_extract_norm="layer")
sound("hubert", "HubertModel", "HubertConfig", **WAVE)
sound("wavlm", "WavLMModel", "WavLMConfig", **WAVE)


@model
def audio_spectrogram_transformer():
    module = tiny("ASTForAudioClassification", "ASTConfig", hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, max_length=48, num_mel_bins=32)
    inputs = lambda batch: {"input_values": torch.randn(batch, 48, 32)}
    return Example(Fixed(module), inputs(2), [inputs(3)])


@model
def patchtst():
    module = tiny("PatchTSTForPrediction", "PatchTSTConfig", num_input_channels=3, context_length=32, patch_length=8, patch_stride=8, prediction_length=4, d_model=16, num_hidden_layers=2, ffn_dim=32)
    inputs = lambda batch: {"past_values": torch.randn(batch, 32, 3)}
    return Example(Fixed(module), inputs(2), [inputs(3)])


# Other models


@model
def mlp():
    module = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4), nn.Softmax(-1))
    return Example(randomise(module).eval(), (torch.randn(2, 8),), [(torch.randn(5, 8),)])


def recurrent(entry, cell, **options):
    """Adds a recurrent network with an embedding, whose outputs include the last states."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(VOCABULARY, 12)
            self.net = cell(12, 16, batch_first=True, **options)
            self.head = nn.Linear(16 * (2 if options.get("bidirectional") else 1), 5)

        def forward(self, x):
            hidden, last = self.net(self.embedding(x))
            return functional.log_softmax(self.head(hidden), -1), last

    def make():
        return Example(randomise(Net()).eval(), (tokens(2, 7),), [(tokens(3, 5),), (tokens(3, 7),)])

    MODELS[entry] = make


recurrent("lstm", nn.LSTM, num_layers=2)
recurrent("lstm_bidirectional", nn.LSTM, num_layers=2, bidirectional=True)
recurrent("gru", nn.GRU, num_layers=2)
recurrent("gru_bidirectional", nn.GRU, bidirectional=True)
recurrent("rnn", nn.RNN, nonlinearity="relu")


@model
def lstm_state():
    """An LSTM whose states are inputs. The layout is (length, batch, features)."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.LSTM(8, 12, 2, proj_size=6)

        def forward(self, x, h, c):
            return self.net(x, (h, c))

    inputs = lambda length, batch: (torch.randn(length, batch, 8), torch.randn(2, batch, 6), torch.randn(2, batch, 12))
    return Example(Net().eval(), inputs(6, 2), [inputs(4, 3), inputs(6, 3)])


@model
def lstm_cells():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.cells = nn.ModuleList([nn.LSTMCell(8, 12), nn.GRUCell(12, 12), nn.RNNCell(12, 12)])

        def forward(self, x):
            h = c = u = v = x.new_zeros(x.shape[0], 12)
            for step in x.unbind(1):
                h, c = self.cells[0](step, (h, c))
                u = self.cells[1](h, u)
                v = self.cells[2](u, v)
            return h, c, u, v

    return Example(Net().eval(), (torch.randn(2, 4, 8),), [(torch.randn(3, 4, 8),)])


def doubled(inputs, outputs):
    layers = []
    for channels in (inputs, outputs):
        layers += [nn.Conv2d(channels, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True)]
    return nn.Sequential(*layers)


@model
def unet():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.down = nn.ModuleList([doubled(3, 8), doubled(8, 16), doubled(16, 32)])
            self.up = nn.ConvTranspose2d(32, 16, 2, 2)
            self.middle = doubled(32, 16)
            self.resize = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
            self.last = nn.Sequential(doubled(24, 8), nn.Conv2d(8, 2, 1))

        def forward(self, x):
            a = self.down[0](x)
            b = self.down[1](functional.max_pool2d(a, 2))
            c = self.down[2](functional.max_pool2d(b, 2))
            b = self.middle(torch.cat([self.up(c), b], 1))
            return torch.sigmoid(self.last(torch.cat([self.resize(b), a], 1)))

    return image(Net(), 32, free=True)


@model
def diffusion_unet():
    """A U-Net for diffusion: group norm, an embedding of the time step, attention, nearest upsampling."""

    class Block(nn.Module):
        def __init__(self, inputs, outputs):
            super().__init__()
            self.norms = nn.ModuleList([nn.GroupNorm(4, inputs), nn.GroupNorm(4, outputs)])
            self.convolutions = nn.ModuleList([nn.Conv2d(inputs, outputs, 3, padding=1), nn.Conv2d(outputs, outputs, 3, padding=1)])
            self.time = nn.Linear(32, outputs)
            self.skip = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

        def forward(self, x, t):
            h = self.convolutions[0](functional.silu(self.norms[0](x))) + self.time(functional.silu(t))[:, :, None, None]
            return self.skip(x) + self.convolutions[1](functional.silu(self.norms[1](h)))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.time = nn.Sequential(nn.Linear(16, 32), nn.SiLU(), nn.Linear(32, 32))
            self.first = nn.Conv2d(3, 8, 3, padding=1)
            self.down = nn.ModuleList([Block(8, 8), Block(8, 16)])
            self.shrink = nn.Conv2d(8, 8, 3, 2, 1)
            self.attention = nn.MultiheadAttention(16, 2, batch_first=True)
            self.up = nn.ModuleList([Block(24, 8)])
            self.last = nn.Sequential(nn.GroupNorm(4, 8), nn.SiLU(), nn.Conv2d(8, 3, 3, padding=1))

        def forward(self, x, t):
            rates = torch.exp(-math.log(10000) * torch.arange(8, device=x.device) / 8)
            angles = t[:, None].float() * rates[None]
            t = self.time(torch.cat([angles.sin(), angles.cos()], -1))
            a = self.down[0](self.first(x), t)
            b = self.down[1](self.shrink(a), t)
            flat = b.flatten(2).transpose(1, 2)
            flat = flat + self.attention(flat, flat, flat, need_weights=False)[0]
            b = flat.transpose(1, 2).reshape(b.shape)
            b = functional.interpolate(b, scale_factor=2.0, mode="nearest")
            return self.last(self.up[0](torch.cat([a, b], 1), t))

    inputs = lambda batch, size: (torch.randn(batch, 3, size, size + 8), torch.randint(0, 1000, (batch,)))
    return Example(randomise(Net()).eval(), inputs(2, 16), [inputs(3, 24), inputs(3, 16)])


@model
def dcgan():
    layers = []
    for inputs, outputs in [(16, 24), (24, 16), (16, 8)]:
        layers += [nn.ConvTranspose2d(inputs, outputs, 4, 2, 1, bias=False), nn.BatchNorm2d(outputs), nn.LeakyReLU(0.2, True)]
    module = nn.Sequential(*layers, nn.ConvTranspose2d(8, 3, 3, 2, 1, 1), nn.Tanh())
    randomise(module, (torch.randn(4, 16, 2, 2),))
    return Example(module.eval(), (torch.randn(2, 16, 2, 2),), [(torch.randn(3, 16, 3, 4),), (torch.randn(3, 16, 2, 2),)])


@model
def super_resolution():
    module = nn.Sequential(nn.Conv2d(1, 16, 5, padding=2), nn.PReLU(16), nn.ReflectionPad2d(1), nn.Conv2d(16, 9, 3), nn.PixelShuffle(3), nn.InstanceNorm2d(1, affine=True), nn.Hardtanh())
    return image(module, 32, channels=1, free=True)


@model
def temporal_convolution():
    module = nn.Sequential(
        nn.ConstantPad1d((4, 0), 0), nn.Conv1d(4, 8, 3, dilation=2), nn.BatchNorm1d(8), nn.ELU(), nn.Conv1d(8, 8, 5, groups=4, padding="same"),
        nn.MaxPool1d(2), nn.Softplus(), nn.AdaptiveAvgPool1d(3), nn.Flatten(), nn.Linear(24, 3),
    )
    randomise(module, (torch.randn(4, 4, 24),))
    return Example(module.eval(), (torch.randn(2, 4, 24),), [(torch.randn(3, 4, 30),), (torch.randn(3, 4, 24),)])


@model
def volume():
    module = nn.Sequential(nn.Conv3d(1, 4, 3, padding=1), nn.BatchNorm3d(4), nn.ReLU(), nn.MaxPool3d(2), nn.Conv3d(4, 8, 3, stride=2), nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(8, 3))
    randomise(module, (torch.randn(4, 1, 8, 8, 8),))
    return Example(module.eval(), (torch.randn(2, 1, 8, 8, 8),), [(torch.randn(3, 1, 8, 8, 8),)])


def encoder(entry, **options):
    """Adds PyTorch's own transformer encoder with a mask of padding."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, **options)
            self.net = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

        def forward(self, x, padding):
            return self.net(x, src_key_padding_mask=padding)

    def make():
        inputs = lambda batch, length: (torch.randn(batch, length, 16), mask(batch, length) == 0)
        return Example(randomise(Net()).eval(), inputs(2, 6), [inputs(3, 5), inputs(3, 6)])

    MODELS[entry] = make


encoder("transformer_encoder")
encoder("transformer_encoder_first_norm", norm_first=True, activation="gelu")


@model
def transformer():
    """PyTorch's own transformer with a causal mask."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Transformer(16, 2, 1, 1, 32, batch_first=True)

        def forward(self, source, target):
            causal = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
            return self.net(source, target, tgt_mask=causal, tgt_is_causal=True)

    inputs = lambda batch, a, b: (torch.randn(batch, a, 16), torch.randn(batch, b, 16))
    return Example(randomise(Net()).eval(), inputs(2, 6, 4), [inputs(3, 5, 7), inputs(3, 6, 4)])


@model
def attention_weights():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.MultiheadAttention(16, 4, kdim=12, vdim=10, bias=True, add_bias_kv=True)

        def forward(self, q, k, v):
            return self.net(q, k, v)

    inputs = lambda n, m, batch: (torch.randn(n, batch, 16), torch.randn(m, batch, 12), torch.randn(m, batch, 10))
    return Example(randomise(Net()).eval(), inputs(5, 7, 2), [inputs(4, 6, 3), inputs(5, 7, 3)])


@model
def recommender():
    """Bags of embeddings and dense features, as in DLRM."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.bags = nn.ModuleList([nn.EmbeddingBag(50, 8, mode=mode) for mode in ("sum", "mean")])
            self.dense = nn.Sequential(nn.Linear(5, 8), nn.ReLU())
            self.head = nn.Linear(8 + 3, 1)

        def forward(self, dense, a, b):
            x = self.dense(dense)
            parts = torch.stack([x, self.bags[0](a), self.bags[1](b)], 1)
            pairs = torch.bmm(parts, parts.transpose(1, 2))
            i, j = torch.tril_indices(3, 3, -1)
            return torch.sigmoid(self.head(torch.cat([x, pairs[:, i, j]], 1)))

    inputs = lambda batch: (torch.randn(batch, 5), torch.randint(0, 50, (batch, 4)), torch.randint(0, 50, (batch, 3)))
    return Example(Net().eval(), inputs(2), [inputs(5)])


@model
def graph_convolution():
    """Sums over the edges of a graph."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(6, 8), nn.Linear(8, 4)])

        def forward(self, x, edges):
            source, target = edges
            degree = torch.zeros(x.shape[0]).scatter_add_(0, target, torch.ones(edges.shape[1])).clamp(min=1)
            for layer in self.layers:
                h = layer(x)
                x = torch.relu(h + torch.zeros_like(h).index_add(0, target, h[source]) / degree[:, None])
            return x, x.amax(0), torch.zeros_like(x).scatter_reduce(0, target[:, None].expand(-1, 4), x[source], "amax")

    inputs = lambda nodes, edges: (torch.randn(nodes, 6), torch.randint(0, nodes, (2, edges)))
    return Example(Net().eval(), inputs(7, 20), [inputs(9, 31)])


@model
def branches():
    """torch.cond on a value."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(6, 4), nn.Linear(6, 4)

        def forward(self, x):
            return torch.cond(x.sum() > 0, lambda x: torch.relu(self.a(x)), lambda x: torch.tanh(self.b(x)) * 2, (x,))

    return Example(Net().eval(), (torch.randn(2, 6) + 1,), [(torch.randn(3, 6) - 1,)])


@model
def branches_of_size():
    """torch.cond on a size."""

    class Net(nn.Module):
        def forward(self, x):
            return torch.cond(x.shape[0] > 4, lambda x: x.cumsum(0), lambda x: x.sin(), (x,))

    return Example(Net().eval(), (torch.randn(3, 6),), [(torch.randn(6, 6),)])


@model
def loop():
    """torch.while_loop."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(4, 4)

        def forward(self, count, x):
            from torch._higher_order_ops.while_loop import while_loop

            return while_loop(lambda k, x: k > 0, lambda k, x: (k - 1, torch.tanh(self.net(x)) + x), (count, x))

    return Example(Net().eval(), (torch.tensor(3), torch.randn(2, 4)), [(torch.tensor(5), torch.randn(3, 4))])


@model
def scanned():
    """torch's scan over the first dimension."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(4, 4)

        def forward(self, start, xs):
            from torch._higher_order_ops.scan import scan

            def step(carry, x):
                carry = torch.tanh(self.net(carry) + x)
                return carry, carry * 2

            return scan(step, start, xs)

    return Example(Net().eval(), (torch.randn(2, 4), torch.randn(5, 2, 4)), [(torch.randn(2, 4), torch.randn(7, 2, 4))])


@model
def batch_norm_training():
    """Batch norm in training. The running statistics are buffers that each run changes, and outputs."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.convolution, self.norm = nn.Conv2d(3, 6, 3), nn.BatchNorm2d(6)
            self.cumulative = nn.BatchNorm1d(6, momentum=0.3)

        def forward(self, x):
            y = self.cumulative(torch.relu(self.norm(self.convolution(x))).mean((2, 3)))
            return y, self.norm.running_mean + 0, self.norm.running_var * 2, self.norm.num_batches_tracked + 0

    return Example(randomise(Net()).train(), (torch.randn(4, 3, 8, 8),), [(torch.randn(5, 3, 9, 7),), (torch.randn(5, 3, 8, 8),)])


@model
def counter():
    """Buffers that each run changes, one of them by part of its elements."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.tensor(3))
            self.register_buffer("ring", torch.randn(4, 3))
            self.register_buffer("scratch", torch.ones(3), persistent=False)

        def forward(self, x):
            self.count += 1
            self.ring[1:] = self.ring[:-1].clone()
            self.ring[0] = x.mean(0)
            self.scratch.mul_(2)
            return self.ring.sum(0) * self.scratch, self.count * 2

    return Example(Net().eval(), (torch.randn(2, 3),), [(torch.randn(5, 3),)])


@model
def changed_input():
    """An input that the program writes."""

    class Net(nn.Module):
        def forward(self, x, y):
            x.mul_(2)
            x[:, 0] += y
            return x + 1, x.view(-1)[:2]

    return Example(Net().eval(), (torch.randn(3, 4), torch.randn(3)), [(torch.randn(5, 4), torch.randn(5))])


@model
def same_outputs():
    """An output that is an input, outputs that are the same tensor, a weight and a constant, and an output that is a number."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.net, self.constant = nn.Linear(3, 3), torch.arange(4)

        def forward(self, x, unused):
            y = self.net(x)
            return {"y": y, "again": y, "x": x, "weight": self.net.weight, "constant": self.constant, "lifted": torch.tensor([1.5, 2.5]) * y.mean()}

    return Example(Net().eval(), (torch.randn(2, 3), torch.randn(4)), [(torch.randn(5, 3), torch.randn(4))])


@model
def chosen():
    """Results whose sizes depend on values."""

    class Net(nn.Module):
        def forward(self, x, scores):
            kept = scores > 0
            rows = kept.nonzero().squeeze(1)
            best, order = scores.topk(2)
            return x[kept], rows, x[order], best, torch.sort(scores, descending=True).values, torch.unique(scores.round())

    return Example(Net().eval(), (torch.randn(9, 3), torch.randn(9)), [(torch.randn(12, 3), torch.randn(12))])


@model
def items():
    """A number that is read out of a tensor, and used as a size."""

    class Net(nn.Module):
        def forward(self, x, n):
            count = n.item()
            torch._check(count >= 1)
            torch._check(count <= x.shape[0])
            return x.narrow(0, 0, count).sum(0), torch.full((count,), 2.5), torch.arange(count)

    return Example(Net().eval(), (torch.randn(9, 3), torch.tensor(4)), [(torch.randn(7, 3), torch.tensor(5))])


@model
def spectrum():
    """A spectrogram by a Fourier transform."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("window", torch.hann_window(16))
            self.filters = nn.Linear(9, 5, bias=False)

        def forward(self, x):
            spectrum = torch.stft(x, 16, 8, window=self.window, return_complex=True)
            power = spectrum.abs() ** 2
            return self.filters(power.transpose(1, 2)).abs().clamp(min=1e-5).log10()

    return Example(Net().eval(), (torch.randn(2, 96),), [(torch.randn(3, 128),), (torch.randn(3, 96),)])


@model
def fourier_layer():
    """A layer of a Fourier neural operator."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(4, 4, 5, dtype=torch.complex64) / 4)
            self.skip = nn.Conv1d(4, 4, 1)

        def forward(self, x):
            y = torch.fft.rfft(x)
            y = torch.einsum("bim,iom->bom", y[..., :5], self.weight)
            return functional.gelu(torch.fft.irfft(y, n=x.shape[-1]) + self.skip(x))

    return Example(Net().eval(), (torch.randn(2, 4, 16),), [(torch.randn(3, 4, 16),)])


@model
def grid():
    """A spatial transformer."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(3, 6)

        def forward(self, x):
            theta = self.net(x.mean((2, 3))).view(-1, 2, 3)
            return functional.grid_sample(x, functional.affine_grid(theta, x.shape, align_corners=False), align_corners=False)

    return image(Net(), 16)


@model
def losses():
    """Losses as a part of the program."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(6, 5)

        def forward(self, x, target):
            y = self.net(x)
            hot = functional.one_hot(target, 5).float()
            return (
                functional.cross_entropy(y, target, label_smoothing=0.1), functional.mse_loss(y, hot), functional.smooth_l1_loss(y, hot),
                functional.binary_cross_entropy_with_logits(y, hot), functional.kl_div(y.log_softmax(1), hot.softmax(1), reduction="batchmean"),
                functional.cosine_similarity(y, hot), functional.huber_loss(y, hot), (y.argmax(1) == target).float().mean(),
            )

    inputs = lambda batch: (torch.randn(batch, 6), torch.randint(0, 5, (batch,)))
    return Example(Net().eval(), inputs(3), [inputs(6)])


@model
def indexing():
    """Ways to index, to slice and to write slices."""

    class Net(nn.Module):
        def forward(self, x, i):
            y = x.clone()
            y[:, ::2] = 0
            y[i, 1] = 5
            y[y > 1] = -1
            parts = x.chunk(2, 1)
            return (
                y, x[i], x[:, i[0]], x[..., None, -1], x.gather(0, i[:, None].expand(-1, 4)), torch.where(x > 0, x, x.exp()), parts[1] - parts[0],
                x.flip(0).roll(1, 1), x.unfold(1, 2, 1), torch.take_along_dim(x, i[None, :2], 1), x.masked_fill(x < 0, 9), x.diagonal(), x.tril(),
                torch.nn.functional.pad(x, (1, 2), value=3), x.repeat(2, 1), x.repeat_interleave(2, 0), torch.stack([x, x], -1), x.split([1, 3], 1)[1],
            )

    return Example(Net().eval(), (torch.randn(5, 4), torch.tensor([2, 0, 3, 1])), [(torch.randn(6, 4), torch.tensor([3, 1, 2, 0]))])


@model
def arithmetic():
    """Types that mix, integers, and sizes in arithmetic."""

    class Net(nn.Module):
        def forward(self, x, n):
            size = x.shape[0] * 3 // 2 + x.shape[1] ** 2 - 1
            positions = torch.arange(size) % 5
            return (
                x / x.shape[0], n // 2, n % 3, n / 2, x.double() * n[:1], n.float().rsqrt(), positions, x.to(torch.int32), n.bool() & (n > 3),
                torch.linspace(0, 1, 5) * size, x.std(0), x.var(1, unbiased=False), x.logsumexp(0), x.norm(dim=1), x.cumsum(0), x.prod(1), x.min(1),
                x.argmax(), torch.outer(x[0], x[1]), x.erf(), x.lerp(x + 1, 0.3), x.clamp(-0.5, 0.5), x.round(), x.sign(), torch.atan2(x, x + 1), x.pow(3), 2**x,
                x.half().float(), n.to(torch.uint8), ~n, n << 1, n.eq(2).any(), x.isnan().all(), torch.addmm(x[0, :3], x, x.new_ones(x.shape[1], 3)), x.softmax(0),
            )

    return Example(Net().eval(), (torch.randn(4, 4), torch.tensor([1, 2, 3, 7])), [(torch.randn(6, 4), torch.tensor([1, 2, 3, 7]))])


@model
def linear_algebra():
    class Net(nn.Module):
        def forward(self, a, b):
            spd = a @ a.mT + 4 * torch.eye(4)
            return torch.linalg.solve(spd, b), torch.linalg.cholesky(spd), torch.linalg.inv(spd), torch.linalg.det(spd), torch.einsum("bij,bkj->bik", a, b.mT), torch.cdist(a, b.mT)

    return Example(Net().eval(), (torch.randn(2, 4, 4), torch.randn(2, 4, 3)), [(torch.randn(3, 4, 4), torch.randn(3, 4, 3))])
