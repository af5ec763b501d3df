# The formula of Homebrew: set the address and the hash of a release.
class Thorn < Formula
  desc "Torch tensors as a plain C library"
  homepage "https://example.org/thorn"
  url "https://example.org/thorn/thorn-0.2.0.tar.gz"
  sha256 "0" * 64
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "cmake" => :build
  depends_on "rust" => :build
  depends_on :linux

  def install
    system "cmake", "-S", ".", "-B", "build", "-DTHORN_BUILD_TESTS=OFF", "-DTHORN_BUILD_EXAMPLES=OFF", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    (testpath/"test.c").write <<~C
      #include <thorn.h>
      int main(void) {
          int64_t size[1] = {3};
          THTensor *t = THTensor_newOnes(TH_FLOAT32, 1, size);
          double total = THTensor_sumall(t);
          THTensor_free(t);
          return total == 3 ? 0 : 1;
      }
    C
    system ENV.cc, "test.c", "-I#{include}", "-L#{lib}", "-lthorn", "-o", "test"
    system "./test"
  end
end
